/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_STACK_FACTS_H
#define WICK_ENGINE_PERF_STACK_FACTS_H

/*
 * stack_facts: properties of a stack that are counted once for each sample that has it.
 */

#include <stdbool.h>
#include <stdint.h>

enum stack_calls {
	STACK_CALLS_NONE,
	STACK_CALLS_NAMED,   /* it has calls of an interpreter */
	STACK_CALLS_UNNAMED, /* it has some, but what they refer to is not known */
};

struct stack_facts {
	uint32_t frames;
	uint8_t end;   /* enum unwind_end; 0: unknown */
	bool cut;      /* the root is missing */
	bool outside;  /* walked outside the kernel */
	uint8_t calls; /* enum stack_calls */
	bool holds;    /* the thread held the global lock of its interpreter */
};

#endif
