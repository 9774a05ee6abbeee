/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ENTRY_CODE_H
#define WICK_CFI_ENTRY_CODE_H

/*
 * entry_code: whether the first instructions of a function can be moved elsewhere, so that
 * a jump takes their place: who calls the function then comes to another one first.
 *
 * Refuses rather than guesses: what depends on where it stands, what is not known, and
 * functions that jump back to what would no more be there.
 */

#include <stdint.h>

#define ENTRY_CODE_BYTES 24u /* the most that is looked at of what is moved */

struct entry_code {
	uint8_t offset; /* where the jump goes: behind a mark for indirect calls */
	uint8_t moved;  /* bytes from there on that must be moved */
	uint8_t marked; /* the first of them is such a mark itself: another takes its place */
};

/*
 * Looks at all bytes of a function for a CPU (EM_X86_64, EM_AARCH64). Returns NULL and
 * fills *ret in, or says in words why it cannot be.
 */
const char *entry_code_look(uint16_t machine, const uint8_t *bytes, uint64_t size,
			    struct entry_code *ret);

#endif
