/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_FALLIBLE_LOAD_H
#define WICK_PRELOAD_FALLIBLE_LOAD_H

/*
 * fallible_load: loads that may fault because the program overwrote one of our tables. They cost no
 * more than other loads: the fault handler finds them in a list and resumes after them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/arch/native.h"

#define FALLIBLE_LISTED                                                                            \
	".pushsection wick_fallible, \"a\"\n\t.balign 4\n\t.long 1b - .\n\t.long 2b - "            \
	".\n\t.popsection"

/* Loads the word at an address; any value if nothing is mapped there. */
static inline uint64_t fallible_load(const uint64_t *address)
{
	uint64_t value;

	ARCH_FALLIBLE_LOAD(value, address, FALLIBLE_LISTED);
	return value;
}

/* Whether such a load caused a fault: then the thread resumes after it. */
bool fallible_resume(ucontext_t *context);

#endif
