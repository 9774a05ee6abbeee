/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_TICKS_H
#define WICK_SAFE_TICKS_H

/*
 * ticks: the CPU's counter of time, which costs a quarter of what the clock does.
 * Whoever reads them later knows pairs of ticks and CLOCK_MONOTONIC. No barrier:
 * a read may be some instructions early or late.
 */

#include <stdint.h>

static inline uint64_t safe_ticks(void)
{
#if defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#endif
}

#endif
