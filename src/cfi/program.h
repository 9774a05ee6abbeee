/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_PROGRAM_H
#define WICK_CFI_PROGRAM_H

/*
 * program: runs the call frame instructions of an FDE.
 *
 * It tracks only the CFA, where the caller's frame pointer is, where the return address is and, on
 * request, where one more register is. Each time the location advances, the visitor receives the
 * state that applied up to it.
 */

#include <stdint.h>

#include "cfi/frames.h"

struct cfi_machine;

enum frame_place_kind {
	PLACE_SAME, /* still in the register; no instruction mentions it */
	PLACE_AT_CFA,
	PLACE_UNDEFINED,
	PLACE_REGISTER,
	PLACE_EXPRESSION, /* in memory at the address that the expression computes */
	PLACE_OTHER,      /* a value that is not in memory */
};

struct frame_place {
	enum frame_place_kind kind;
	uint32_t size;             /* of the expression */
	int64_t value;             /* offset or register */
	const uint8_t *expression; /* borrowed from the section */
};

enum frame_cfa_kind { CFA_UNSET, CFA_REGISTER, CFA_EXPRESSION };

struct frame_state {
	enum frame_cfa_kind cfa;
	uint32_t cfa_size; /* of the expression */
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression;
	struct frame_place fp;
	struct frame_place ra;
	struct frame_place kept;
	uint64_t kept_register; /* the one in kept; 0: none. Set before the CIE runs */
};

struct frame_program {
	const struct cfi_machine *machine;
	const struct frame_section *section;
	const struct frame_cie *cie;
	const struct frame_state *initial; /* NULL while the CIE's own program runs */
	uint64_t start;
	uint64_t end;
	/*
	 * Called for each [start, end) that is not empty. Returns 0 or an error that stops the run.
	 */
	int (*visit)(void *self, uint64_t start, uint64_t end, const struct frame_state *state);
	void *self;
};

/*
 * Runs code and leaves the last state in *state. 0, -EINVAL for an invalid program, or the
 * visitor's error.
 */
int frame_program_run(const struct frame_program *program, struct cursor code, uint64_t code_vaddr,
		      struct frame_state *state);

#endif
