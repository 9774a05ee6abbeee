/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HOOK_STUB_H
#define WICK_PRELOAD_HEAP_HOOK_STUB_H

/*
 * hook_stub: the code generated for a hook, near the function: the target of the jump at its start,
 * and the instructions that the jump replaces, with a jump back. Code for either CPU can be
 * generated on any.
 */

#include <stdint.h>

#include "wire/heap_hook.h"

enum hook_cpu { HOOK_X64, HOOK_A64 };

#define HOOK_STUB_BYTES 64u
#define HOOK_STUB_ORIGINAL 32u /* offset of the replaced instructions of the function */

/* Largest distance of a stub from its function, with a margin. */
#define HOOK_REACH_X64 0x7ff00000u
#define HOOK_REACH_A64 0x07f00000u

struct hook_stub {
	uint8_t code[HOOK_STUB_BYTES];
	uint8_t patch[8]; /* new bytes of the function at `offset` */
	uint32_t patch_bytes;
};

struct hook_place {
	uint64_t function;
	uint64_t stub;
	uint64_t gate; /* target of stubs: see arch/hook_gate_*.c */
	uint32_t index;
};

/* Generates the code. On A64 the distance of function and stub is a multiple of four. */
void hook_stub_make(enum hook_cpu cpu, const struct session_hook *hook,
		    const struct hook_place *place, struct hook_stub *ret);

#endif
