/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_H
#define WICK_UNWIND_STEP_H

/*
 * step: from a frame to its caller.
 *
 * Written once, over a way to read the target's memory, for every walker: in the
 * process, from outside, offline, and in the kernel. Freestanding.
 *
 * A walk begins with the registers of the interrupted instruction and ends for
 * one of the reasons below; each stack carries its reason.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/table.h"

enum unwind_end {
	UNWIND_GOING = 0,   /* not ended */
	UNWIND_ROOT,        /* reached the place where the thread began */
	UNWIND_DEPTH,       /* the limit of frames */
	UNWIND_NO_RULE,     /* code without a rule and without a usable frame pointer */
	UNWIND_UNREADABLE,  /* memory that could not be read */
	UNWIND_NO_PROGRESS, /* the frame would not be further up the stack */
	UNWIND_BAD_ADDRESS, /* a return address outside executable memory */
	UNWIND_ENDS
};

/* What is known of a frame. */
struct unwind_frame {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t lr; /* aarch64; valid only while lr_valid */
	bool exact;  /* pc is the instruction itself (leaf, or interrupted by a signal), not a
			return address */
	bool lr_valid;
	/*
	 * All general registers by DWARF number, for the rare rules that need
	 * others than sp and fp; NULL unless this is the first frame.
	 */
	const uint64_t *registers;
};

#endif
