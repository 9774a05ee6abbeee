/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_USER_STACK_H
#define WICK_PROCESS_STACKS_USER_STACK_H

/*
 * user_stack: walks a user stack offline, from its copy and the registers at that moment, with the
 * tables of the modules that were mapped then.
 */

#include <stdint.h>

struct process_tracker;
struct tracked_process;
struct unwind_trace;

struct user_stack {
	uint64_t time_ns;
	uint64_t pc;
	const uint64_t *registers; /* by DWARF number */
	uint64_t start;            /* of the copy: sp, or a little below it */
	const uint8_t *bytes;      /* unaligned */
	uint64_t size;
};

/* Fills the trace: pcs and capacity are the caller's. */
void user_stack_walk(struct process_tracker *tracker, const struct tracked_process *process,
		     const struct user_stack *stack, struct unwind_trace *trace);

#endif
