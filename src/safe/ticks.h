/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_TICKS_H
#define WICK_SAFE_TICKS_H

/*
 * ticks: the CPU's time counter, which costs a quarter of a clock read. To convert them later,
 * readers have pairs of ticks and CLOCK_MONOTONIC. No barrier: a read may be a few instructions
 * early or late.
 */

#include <stdint.h>

#include "safe/arch/native.h"

static inline uint64_t safe_ticks(void)
{
	return arch_ticks();
}

#endif
