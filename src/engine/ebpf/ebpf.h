/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_EBPF_H
#define WICK_ENGINE_EBPF_EBPF_H

/*
 * ebpf: the engine whose samples are made by programs in the kernel, which walk
 * stacks with our tables: no frame pointers, no copies of stacks. Whom to watch,
 * what is mapped where and when are perf events' business as in the perf engine.
 */

struct engine_ops;

extern const struct engine_ops ebpf_engine_ops;

#endif
