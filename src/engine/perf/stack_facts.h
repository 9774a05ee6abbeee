/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_STACK_FACTS_H
#define WICK_ENGINE_PERF_STACK_FACTS_H

/*
 * stack_facts: properties of a stack that are counted once for each sample that has it.
 */

#include <stdbool.h>
#include <stdint.h>

struct stack_facts {
	uint32_t frames;
	uint8_t end;  /* enum unwind_end; 0: unknown */
	bool cut;     /* the root is missing */
	bool outside; /* walked outside the kernel */
};

#endif
