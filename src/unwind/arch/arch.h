/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_ARCH_ARCH_H
#define WICK_UNWIND_ARCH_ARCH_H

/*
 * arch: what the step needs to know about a CPU and its Linux ABI.
 *
 * Only data, one constant for each CPU, so that any host can walk the stacks of any other. The
 * constants are static: a BPF program cannot link with another file, and compilers fold them into
 * the step.
 */

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_REGISTERS 33 /* by DWARF number; aarch64 has 0..30 and sp = 31 */
#define UNWIND_NOT_SAVED 0xffff

/*
 * The code of a signal trampoline: the eight bytes at its start, eight more at an
 * offset, and where its second and last instruction begins.
 */
struct unwind_trampoline {
	uint64_t first;
	uint64_t second;
	uint8_t second_offset;
	uint8_t last_instruction;
};

/* A class of four-byte instructions: those with word & mask == value. */
struct unwind_code {
	uint32_t mask;
	uint32_t value;
};

struct unwind_arch {
	uint16_t machine; /* EM_… */
	uint8_t sp_register;
	uint8_t fp_register;
	uint8_t lr_register;   /* UNWIND_REGISTERS: the CPU has none */
	uint8_t cfa_alignment; /* bytes; a power of two */
	/*
	 * A frame record is { caller's fp, return address } where fp points. The caller's sp is
	 * right above it only if calls push the return address.
	 */
	bool record_ends_frame;
	uint32_t scratch;   /* a bit for each register that a function need not preserve */
	uint16_t red_zone;  /* bytes below sp that a function may use */
	uint64_t old_calls; /* number of a page of functions without a frame; 0: none */
	/* The rest is for code without rules; zero if there is nothing to search for. */
	uint64_t start_code; /* two instructions that clear fp and lr: where a thread begins */
	struct unwind_code jumps[2];    /* instructions that end a straight piece of code */
	struct unwind_code record_push; /* creates a frame and saves fp and lr at its low end */
	struct unwind_trampoline trampoline;
	uint16_t saved_pc; /* in the signal frame, relative to the trampoline's sp */
	uint16_t saved[UNWIND_REGISTERS];
};

#endif
