/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HOOK_STUB_H
#define WICK_PRELOAD_HEAP_HOOK_STUB_H

/*
 * hook_stub: the code that is made for a hook, near the function: where a jump from its
 * beginning leads, and the instructions that the jump takes the place of, with the way back.
 * Bytes for either CPU can be made on any.
 */

#include <stdint.h>

#include "wire/heap_hook.h"

enum hook_cpu { HOOK_X64, HOOK_A64 };

#define HOOK_STUB_BYTES 64u
#define HOOK_STUB_ORIGINAL 32u /* from here on it is the function */

/* The most that a stub may be away from its function, with something to spare. */
#define HOOK_REACH_X64 0x7ff00000u
#define HOOK_REACH_A64 0x07f00000u

struct hook_stub {
	uint8_t code[HOOK_STUB_BYTES];
	uint8_t patch[8]; /* what the function has at `offset` from then on */
	uint32_t patch_bytes;
};

struct hook_place {
	uint64_t function;
	uint64_t stub;
	uint64_t gate; /* where stubs lead: see hook_gate.c */
	uint32_t index;
};

/* Makes the code. Functions are a multiple of four away from the stub on A64. */
void hook_stub_make(enum hook_cpu cpu, const struct session_hook *hook,
		    const struct hook_place *place, struct hook_stub *ret);

#endif
