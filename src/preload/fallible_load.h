/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_FALLIBLE_LOAD_H
#define WICK_PRELOAD_FALLIBLE_LOAD_H

/*
 * fallible_load: loads that may fault where a table of ours was written over. They cost nothing
 * more than others: the fault's handler finds them in a list, and goes on behind them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define FALLIBLE_LISTED                                                                            \
	".pushsection wick_fallible, \"a\"\n\t.balign 4\n\t.long 1b - .\n\t.long 2b - "            \
	".\n\t.popsection"

/* What lies at an address; anything where nothing does. */
static inline uint64_t fallible_load(const uint64_t *address)
{
	uint64_t value;

#if defined(__aarch64__)
	__asm__("1: ldr %0, %1\n2:\n\t" FALLIBLE_LISTED : "=r"(value) : "Q"(*address));
#else
	__asm__("1: movq %1, %0\n2:\n\t" FALLIBLE_LISTED : "=r"(value) : "m"(*address));
#endif
	return value;
}

/* Whether a fault was that of such a load: then the thread goes on behind it. */
bool fallible_resume(ucontext_t *context);

#endif
