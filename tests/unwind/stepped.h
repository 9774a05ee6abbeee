/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_STEPPED_H
#define WICK_TESTS_STEPPED_H

/*
 * stepped: what the stepped program tells its tracer, in memory that both map.
 *
 * The shadow stack is the program's own account of who called whom: each
 * function that takes part adds the address it will return to and takes it away
 * at its end.
 */

#include <stdint.h>

#define SHADOW_FD 9
#define SHADOW_DEPTH 256

struct shadow {
	volatile uint32_t depth;
	volatile uint32_t handlers_ready;    /* the tracer may send signals */
	volatile uint64_t handler;           /* SIGUSR1, on the thread's own stack */
	volatile uint64_t alternate_handler; /* SIGUSR2 */
	volatile uint64_t returns[SHADOW_DEPTH];
};

#endif
