/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_HEAP_HOOK_H
#define WICK_WIRE_HEAP_HOOK_H

/* heap_hook: functions of a program's own allocator that are to be recorded as well. */

#include <stdint.h>

#define SESSION_HOOKS 16u
#define SESSION_HOOK_CODE 24u
#define SESSION_HOOK_NONE 255u

/* What the recorder has found in the file of the function. */
struct session_hook {
	uint64_t device; /* of the file */
	uint64_t inode;
	uint64_t vaddr;
	uint8_t is_free;
	uint8_t argument; /* which one is the size, or the block that is freed; 0 is the first */
	uint8_t factor;   /* which one the size is multiplied by; SESSION_HOOK_NONE */
	uint8_t offset;   /* as of cfi/entry_code.h */
	uint8_t moved;
	uint8_t marked;
	uint8_t zero[2];
	uint8_t code[SESSION_HOOK_CODE]; /* offset + moved bytes, as they must be in memory */
};

/* What became of one in a process. */
enum session_hook_state {
	SESSION_HOOK_UNMET, /* it has not loaded that file */
	SESSION_HOOK_SET,
	SESSION_HOOK_DIFFERS, /* the code is not that of the file */
	SESSION_HOOK_NO_ROOM, /* near enough for a jump */
	SESSION_HOOK_REFUSED, /* the kernel does not let code be changed */
	SESSION_HOOK_STATES
};

#endif
