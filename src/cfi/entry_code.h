/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ENTRY_CODE_H
#define WICK_CFI_ENTRY_CODE_H

/*
 * entry_code: whether the first instructions of a function can be moved elsewhere, so that a jump
 * can replace them: callers of the function then reach another one first.
 *
 * Refuses rather than guesses: position-dependent and unknown instructions, and functions that jump
 * back to instructions that were moved.
 */

#include <stdint.h>

#define ENTRY_CODE_BYTES 24u /* at most this much is moved */

struct entry_code {
	uint8_t offset; /* where the jump goes: after a landing pad for indirect calls */
	uint8_t moved;  /* bytes from there on that must be moved */
	uint8_t marked; /* the first of them is a landing pad itself: another replaces it */
};

/*
 * Checks all bytes of a function for a CPU (EM_X86_64, EM_AARCH64). Returns NULL and fills in *ret,
 * or returns the reason why it is impossible.
 */
const char *entry_code_look(uint16_t machine, const uint8_t *bytes, uint64_t size,
			    struct entry_code *ret);

#endif
