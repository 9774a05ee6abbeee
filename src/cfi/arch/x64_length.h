/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_X64_LENGTH_H
#define WICK_CFI_ARCH_X64_LENGTH_H

/*
 * x64_length: how long x86-64 instructions are, and whether they are position-dependent.
 *
 * Knows what compilers emit in programs, including AVX; reports instructions that it does not know.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x64_extent {
	size_t size;
	bool by_place;  /* it accesses memory relative to its own address */
	bool branches;  /* to its target: a jump, conditional or not, or a call */
	bool calls;     /* a call, also through a pointer */
	bool ends;      /* does not fall through: a jump, return or trap */
	int64_t target; /* from the beginning of the instruction */
};

/* Measures the instruction at bytes, of at most size bytes; false if it is unknown. */
bool x64_measure(const uint8_t *bytes, size_t size, struct x64_extent *ret);

#endif
