/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_USER_STACK_H
#define WICK_ENGINE_PERF_USER_STACK_H

/*
 * user_stack: walks the stack that the kernel copied into a sample, with the
 * tables of the modules that the process had mapped at that moment. The copy is
 * not kept.
 */

#include <stdint.h>

struct process_tracker;
struct sample_record;
struct tracked_process;
struct unwind_trace;

/* pcs and capacity of the trace are given; the rest is filled in. */
void user_stack_walk(struct process_tracker *tracker, const struct tracked_process *process,
		     const struct sample_record *sample, struct unwind_trace *trace);

#endif
