/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_HEAP_HOOK_H
#define WICK_WIRE_HEAP_HOOK_H

/* heap_hook: functions of a program's own allocator that are recorded as well. */

#include <stdint.h>

#define SESSION_HOOKS 16u
#define SESSION_HOOK_CODE 24u
#define SESSION_HOOK_NONE 255u

/* What the recorder found in the file of the function. */
struct session_hook {
	uint64_t device; /* of the file */
	uint64_t inode;
	uint64_t vaddr;
	uint8_t is_free;
	uint8_t argument; /* the index of the size, or of the freed block; 0 is the first */
	uint8_t factor;   /* the argument that multiplies the size; or SESSION_HOOK_NONE */
	uint8_t offset;   /* as in cfi/entry_code.h */
	uint8_t moved;
	uint8_t marked;
	uint8_t zero[2];
	uint8_t code[SESSION_HOOK_CODE]; /* offset + moved bytes; memory must contain them */
};

/* The state of a hook in a process. */
enum session_hook_state {
	SESSION_HOOK_UNMET, /* the process has not loaded that file */
	SESSION_HOOK_SET,
	SESSION_HOOK_DIFFERS, /* the code differs from the file */
	SESSION_HOOK_NO_ROOM, /* near enough for a jump */
	SESSION_HOOK_REFUSED, /* the kernel does not allow changing the code */
	SESSION_HOOK_STATES
};

#endif
