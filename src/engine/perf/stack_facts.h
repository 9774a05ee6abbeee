/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_STACK_FACTS_H
#define WICK_ENGINE_PERF_STACK_FACTS_H

/*
 * stack_facts: what is counted of a stack, for each sample that has it and for no other.
 */

#include <stdbool.h>
#include <stdint.h>

struct stack_facts {
	uint32_t frames;
	uint8_t end;  /* enum unwind_end; 0: not known */
	bool cut;     /* does not reach its root */
	bool outside; /* was walked outside the kernel */
};

#endif
