/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_EBPF_H
#define WICK_ENGINE_EBPF_EBPF_H

/*
 * ebpf: the engine whose samples are made by programs in the kernel, which walk
 * stacks with our tables: no frame pointers, no copies of stacks. Whom to watch,
 * what is mapped where and when are perf events' business as in the perf engine.
 */

#include <stdint.h>

struct engine_ops;

extern const struct engine_ops ebpf_engine_ops;

/* Ids inside a container are others than the kernel's: those of this namespace; 0: of none. */
uint32_t ebpf_namespace_of_ids(void);

#endif
