/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_H
#define WICK_CFI_ARCH_A64_H

/*
 * a64: what aarch64 instructions do to sp, x29 and x30, and where they branch to.
 *
 * Everything else is A64_NONE. Writes to x29 and x30 that no prologue or epilogue uses (a call's
 * write to x30, arithmetic) are A64_NONE as well.
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
	A64_SP_LOST,    /* sp = something that is known only at run time */
	A64_FP_FROM_SP, /* x29 = sp + imm */
	A64_STORE,      /* to sp + imm, see struct a64_insn */
	A64_LOAD,
	A64_CALL,
	A64_BRANCH, /* to its target, or falls through */
	A64_JUMP,   /* to its target, never falls through */
	A64_END,    /* never falls through: ret, br, brk */
};

/*
 * A store or load changes sp by pre, then accesses reg[0] at sp + imm and reg[1] 8 bytes above,
 * then changes sp by post. Only x29 and x30 are named.
 */
struct a64_insn {
	uint8_t kind; /* enum a64_kind; small, so that the struct fits two registers */
	uint8_t reg[2];
	int32_t imm; /* of branches: distance of the target in bytes */
	int32_t pre;
	int32_t post;
};

/*
 * The index of the first instruction in [at, end) that may change the frame, or end. Branches and
 * the like are ignored. Reads up to 28 bytes past end.
 */
uint32_t a64_find_frame_change(const uint8_t *text, uint32_t at, uint32_t end);
/* The same, including those that may not fall through to the next instruction. */
uint32_t a64_find_change(const uint8_t *text, uint32_t at, uint32_t end);

struct a64_insn a64_decode(uint32_t word);

#endif
