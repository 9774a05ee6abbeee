/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_SCAN_HINTS_H
#define WICK_WIRE_SCAN_HINTS_H

/*
 * scan_hints: what a leak scan must know of a program that only the library in it knows. It lies in
 * the memory of the library (session_process.inside_address), and is read with all other memory
 * of the snapshot, as hostile as that.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "wire/session.h"

#define INSIDE_OWN 2304u
#define INSIDE_STACKS 2048u
#define INSIDE_REGISTERS 24u
#define INSIDE_THREADS SESSION_SLOTS

/*
 * What stands behind the instruction that calls the kernel, so that nobody is led to another place:
 * the process may run another program by now.
 */
#define INSIDE_CALL_BYTES 8u /* of instructions */
#define INSIDE_CALL_MARK "wick: a call of the kernel"

struct scan_hint_range {
	uint64_t start;
	uint64_t bytes;
};

/* A stack that a thread of the C library had, or has. */
struct scan_hint_stack {
	_Atomic uint64_t high; /* what is above it is not of the thread's functions; 0: none */
	uint64_t pointer;      /* the thread pointer */
	uint64_t low;          /* nothing below is its own, though some above may not be */
};

struct scan_hints {
	_Atomic uint32_t own_count; /* may be more than there is room for */
	uint32_t leaving_tid;       /* the thread that ends the program */
	uint64_t leaving_sp;        /* the frame from which it does so; 0: after main() */
	uint64_t stack_end;         /* of the first thread: where its first frame begins */
	uint64_t call_address;      /* of an instruction that calls the kernel */
	uint64_t registers[INSIDE_REGISTERS];   /* when the program was told to end */
	struct scan_hint_range own[INSIDE_OWN]; /* memory of the library: points to anything */
	struct scan_hint_stack stacks[INSIDE_STACKS]; /* by a hash of `high` */
	/* What threads are given that were made and have not begun: nobody else has it yet. */
	_Atomic uint64_t arguments[INSIDE_THREADS];
};

#endif
