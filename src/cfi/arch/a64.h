/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_H
#define WICK_CFI_ARCH_A64_H

/*
 * a64: what aarch64 instructions do to sp, x29 and x30, and where they branch to.
 *
 * Only that: everything else is A64_NONE. Writes to x29 and x30 that no prologue or
 * epilogue uses (a call's to x30, arithmetic) are A64_NONE as well.
 */

#include <stdint.h>

#define A64_INSN_BYTES 4
#define A64_SP 31
#define A64_FP 29
#define A64_LR 30
#define A64_NO_REGISTER 255

enum a64_kind {
	A64_NONE,
	A64_SP_ADD,     /* sp += imm */
	A64_SP_FROM_FP, /* sp = x29 + imm */
	A64_SP_LOST,    /* sp = something that only running the code tells */
	A64_FP_FROM_SP, /* x29 = sp + imm */
	A64_STORE,      /* to sp + imm, see struct a64_insn */
	A64_LOAD,
	A64_CALL,
	A64_BRANCH, /* to its target, or on to the next instruction */
	A64_JUMP,   /* to its target, never on to the next instruction */
	A64_END,    /* the next instruction is not reached from here: ret, br, brk */
};

/*
 * A store or load changes sp by pre, then accesses reg[0] at sp + imm and reg[1] 8
 * bytes above, then changes sp by post. Registers other than x29 and x30 are not named.
 */
struct a64_insn {
	uint8_t kind; /* enum a64_kind; small, so that the whole fits two registers */
	uint8_t reg[2];
	int32_t imm; /* of branches: how many bytes away the target is */
	int32_t pre;
	int32_t post;
};

/*
 * The index of the first instruction in [at, end) that may change the frame, end when
 * none does. Those with flow are not among them. Up to 28 bytes behind end are read.
 */
uint32_t a64_find_frame_change(const uint8_t *text, uint32_t at, uint32_t end);
/* The same with those that may go elsewhere than to the next instruction. */
uint32_t a64_find_change(const uint8_t *text, uint32_t at, uint32_t end);

struct a64_insn a64_decode(uint32_t word);

#endif
