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

#include "preload/arch/native.h"

#define FALLIBLE_LISTED                                                                            \
	".pushsection wick_fallible, \"a\"\n\t.balign 4\n\t.long 1b - .\n\t.long 2b - "            \
	".\n\t.popsection"

/* What lies at an address; anything where nothing does. */
static inline uint64_t fallible_load(const uint64_t *address)
{
	uint64_t value;

	ARCH_FALLIBLE_LOAD(value, address, FALLIBLE_LISTED);
	return value;
}

/* Whether a fault was that of such a load: then the thread goes on behind it. */
bool fallible_resume(ucontext_t *context);

#endif
