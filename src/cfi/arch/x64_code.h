/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_X64_CODE_H
#define WICK_CFI_ARCH_X64_CODE_H

/*
 * x64_code: what some x86-64 instructions do to the stack and where they lead.
 *
 * Not a disassembler: it does not decode instructions that write sp other than by pushes, pops and
 * constants, or that do not occur in stubs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x64_flow {
	X64_NEXT,   /* falls through, also after a call */
	X64_BRANCH, /* falls through, or to the target */
	X64_JUMP,   /* to the target */
	X64_END,    /* returns, or jumps to an unknown address */
};

enum x64_fp { X64_FP_KEPT, X64_FP_PUSHED, X64_FP_POPPED };

struct x64_instruction {
	size_t size;
	int32_t pushed; /* bytes that sp is lowered by */
	enum x64_flow flow;
	enum x64_fp fp;
	int32_t target; /* of a branch or jump, relative to the end of the instruction */
};

/* Decodes the instruction at bytes, of at most size bytes; false if it is unknown. */
bool x64_decode(const uint8_t *bytes, size_t size, struct x64_instruction *ret);

#endif
