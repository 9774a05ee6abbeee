/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_EXPONENTIAL_H
#define WICK_SAFE_EXPONENTIAL_H

/*
 * exponential: the distance from one marked byte to the next if each byte is marked independently,
 * with a given mean distance. Integers only: we must not use floating point inside a watched
 * program, nor in the kernel.
 */

#include <stdint.h>

/* ln 2 with 32 fractional bits. */
#define EXPONENTIAL_LN2 2977044472ull
#define EXPONENTIAL_BITS 24 /* fractional bits of logarithms */

/* -log2(value / 2^64), bit by bit; the value is not 0. */
static inline __attribute__((always_inline)) uint64_t exponential_minus_log2(uint64_t value)
{
	uint64_t zeros = 0;
	uint64_t fraction = 0;
	uint64_t x;

	/* By bisection: not every CPU has an instruction for it. */
	for (uint32_t half = 32; half > 0; half /= 2)
		if (value >> (64 - half) == 0) {
			value <<= half;
			zeros += half;
		}
	x = value >> 32; /* 1 <= x / 2^31 < 2 */
	for (int i = 0; i < EXPONENTIAL_BITS; i++) {
		x = x * x >> 31;
		fraction <<= 1;
		if (x >> 32) {
			x >>= 1;
			fraction |= 1;
		}
	}
	return (zeros + 1) * (1ull << EXPONENTIAL_BITS) - fraction;
}

/* From 64 random bits; the mean is below 2^48. At least 1. */
static inline __attribute__((always_inline)) uint64_t exponential_step(uint64_t mean,
								       uint64_t random)
{
	/* Below 2^30, because no logarithm is above 64. */
	uint64_t e = exponential_minus_log2(random | 1) * EXPONENTIAL_LN2 >> 32;

	return ((mean >> 16) * e >> (EXPONENTIAL_BITS - 16)) +
	       ((mean & 0xffff) * e >> EXPONENTIAL_BITS) + 1;
}

#endif
