/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_STEP_TRUTH_H
#define WICK_TESTS_STEP_TRUTH_H

/*
 * step_truth: the true call chain of a stepped program.
 *
 * Every instruction is decoded as it is executed: a call adds the address after
 * it, a return takes one away, a signal adds what it interrupts and its
 * trampoline. It needs no help from the program, no CFI and no frame pointers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRUTH_DEPTH 512

struct truth {
	/* Return addresses, outermost first; of signals as unwind_trace_pc() has them. */
	uint64_t chain[TRUTH_DEPTH];
	size_t depth;
	size_t signals;  /* handlers under way */
	uint64_t broken; /* returns to an address that no call left: must stay 0 */
};

enum instruction {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL,
	INSTRUCTION_RETURN,
	INSTRUCTION_SYSTEM_CALL,
};

/* What the bytes at pc are; *ret_size is the length of a call. Sixteen bytes are given. */
enum instruction instruction_decode(const unsigned char *bytes, size_t *ret_size);

/* Follows the execution of one instruction, from pc to where the program is now. */
struct executed {
	uint64_t from;
	uint64_t to;
	const unsigned char *bytes; /* sixteen, at from */
	bool is_signal_return;      /* the system call, if it is one */
};
void truth_follow(struct truth *truth, const struct executed *executed);

/* A signal has been delivered: the program is at its handler, which returns to trampoline. */
void truth_signal(struct truth *truth, uint64_t interrupted, uint64_t trampoline);

#endif
