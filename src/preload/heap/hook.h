/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HOOK_H
#define WICK_PRELOAD_HEAP_HOOK_H

/*
 * hook: functions of the program's own allocator, that a person has named, are recorded
 * like wick_alloc() and wick_free(). The recorder has looked at their code; a jump is put
 * at their beginning before the program runs, and leads to the gate (hook_gate.c), which
 * calls hook_before(), the function, and hook_after().
 *
 * Callers may know which registers a function of their own file leaves alone: the gate
 * leaves all alone but those.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/arch/native.h"
#include "preload/runtime.h"

/* Hooks what is there to hook. After modules have come or gone: what came, and went. */
void hooks_set(void);
/* The process has a file of its own: what was hooked is hooked in it too. */
void hooks_tell(void);

/*
 * Whether the gate is to call the function and then hook_after(); else it goes there as
 * if it had not been on the way.
 */
bool hook_before(struct hook_call *call, uint64_t frame) PRELOAD_OWN;
void hook_after(struct hook_call *call, uint64_t frame) PRELOAD_OWN;

extern const uint8_t hook_gate[] PRELOAD_OWN;
extern const uint8_t hook_gate_end[] PRELOAD_OWN;
extern bool hooks_any PRELOAD_OWN; /* anything is hooked */

/* Takes the gate out of a stack. Returns how many frames are left. */
static inline uint32_t hooks_leave_out(uint64_t *pcs, uint32_t count)
{
	uint32_t kept = 0;

	if (__builtin_expect(!hooks_any, 1))
		return count;
	for (uint32_t i = 0; i < count; i++)
		if (pcs[i] < (uint64_t)(uintptr_t)hook_gate ||
		    pcs[i] >= (uint64_t)(uintptr_t)hook_gate_end)
			pcs[kept++] = pcs[i];
	return kept;
}

#endif
