/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_X64_LENGTH_H
#define WICK_CFI_ARCH_X64_LENGTH_H

/*
 * x64_length: how long x86-64 instructions are, and whether they depend on where they stand.
 *
 * Knows what compilers emit in programs, AVX included; says so when it does not know.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x64_extent {
	size_t size;
	bool by_place;  /* it reads or writes memory by its own address */
	bool branches;  /* to its target: a jump, conditional or not, or a call */
	bool calls;     /* a call, by a pointer too */
	bool ends;      /* the next instruction is not reached from it: a jump, return or trap */
	int64_t target; /* from the beginning of the instruction */
};

/* Measures the instruction in the first of size bytes; false when it is not known. */
bool x64_measure(const uint8_t *bytes, size_t size, struct x64_extent *ret);

#endif
