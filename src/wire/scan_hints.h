/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_SCAN_HINTS_H
#define WICK_WIRE_SCAN_HINTS_H

/*
 * scan_hints: what a leak scan must know about a program and only the library in it knows. It is in
 * the memory of the library (session_process.inside_address), read with all other memory of the
 * snapshot, and trusted no more than that.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "wire/session.h"

#define INSIDE_OWN 2304u
#define INSIDE_STACKS 2048u
#define INSIDE_REGISTERS 24u
#define INSIDE_THREADS SESSION_SLOTS

/*
 * The mark follows the system call instruction. It is checked before a thread is made to execute
 * the instruction, because the process may run another program by now.
 */
#define INSIDE_CALL_BYTES 8u /* of instructions */
#define INSIDE_CALL_MARK "wick: a call of the kernel"

struct scan_hint_range {
	uint64_t start;
	uint64_t bytes;
};

/* A stack that a thread of the C library has or had. */
struct scan_hint_stack {
	_Atomic uint64_t high; /* above it there are none of the thread's functions; 0: none */
	uint64_t pointer;      /* the thread pointer */
	uint64_t low;          /* nothing below is the thread's; not all above need be */
};

struct scan_hints {
	_Atomic uint32_t own_count; /* may be more than there is room for */
	uint32_t leaving_tid;       /* the thread that ends the program */
	uint64_t leaving_sp;        /* the frame where it does so; 0: after main() */
	uint64_t stack_end;         /* of the first thread: where its first frame begins */
	uint64_t call_address;      /* of an instruction that makes a system call */
	uint64_t registers[INSIDE_REGISTERS];         /* when the program began to end */
	struct scan_hint_range own[INSIDE_OWN];       /* the library's: points to anything */
	struct scan_hint_stack stacks[INSIDE_STACKS]; /* by a hash of `high` */
	/*
	 * Arguments of threads that were created and have not started: nobody else refers to them
	 * yet.
	 */
	_Atomic uint64_t arguments[INSIDE_THREADS];
};

#endif
