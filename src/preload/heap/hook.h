/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HOOK_H
#define WICK_PRELOAD_HEAP_HOOK_H

/*
 * hook: functions of the program's own allocator, named by the user, are recorded like wick_alloc()
 * and wick_free(). The recorder has analysed their code; before the program runs, their start is
 * replaced by a jump to the gate (arch/hook_gate_*.c), which calls hook_before(), the function, and
 * hook_after().
 *
 * Callers may rely on registers that a function in their own file does not change, so the gate
 * preserves all registers that functions may change.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/arch/native.h"
#include "preload/runtime.h"

/* Hooks the functions that are loaded. Call again after modules were loaded or unloaded. */
void hooks_set(void);
/* Reports what is hooked, in the process's own file. Call it after that file has been created. */
void hooks_tell(void);

/*
 * Whether the gate must call the function and then hook_after(); else it jumps to the function
 * directly.
 */
bool hook_before(struct hook_call *call, uint64_t frame) PRELOAD_OWN;
void hook_after(struct hook_call *call, uint64_t frame) PRELOAD_OWN;

extern const uint8_t hook_gate[] PRELOAD_OWN;
extern const uint8_t hook_gate_end[] PRELOAD_OWN;
extern bool hooks_any PRELOAD_OWN; /* whether anything is hooked */

/* Removes the gate from a stack. Returns how many frames are left. */
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
