/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_EBPF_H
#define WICK_ENGINE_EBPF_EBPF_H

/*
 * ebpf: the engine whose samples are made by BPF programs in the kernel, which walk stacks with
 * our tables: no frame pointers, no copies of stacks. The events, the rings and the records of
 * tasks and mappings are those of the perf engine.
 */

#include <stdint.h>

struct engine_ops;

extern const struct engine_ops ebpf_engine_ops;

/* The inode of our pid namespace, if ids there differ from the kernel's (in a container); else 0.
 */
uint32_t ebpf_namespace_of_ids(void);

#endif
