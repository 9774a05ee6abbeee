/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_NATIVE_WALK_H
#define WICK_PYTHON_NATIVE_WALK_H

/*
 * native_walk: finds the return addresses of native code between a request for memory and the
 * interpreter's loop, with libgcc's unwinder.
 *
 * The walk ends at the innermost frame of the loop; the Python frames show what called that. Frames
 * of the tracer and of the preload library at the top of the stack are left out.
 *
 * Threads: any. A walk does not allocate after native_walk_begin(). Do not walk with a table
 * locked: with older C libraries, the unwinder takes the dynamic linker's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#define NATIVE_WALK_MAX 128

struct native_stack {
	uint32_t count;
	uint64_t words[NATIVE_WALK_MAX]; /* innermost first */
};

/*
 * Finds the unwinder and the code to leave out, and limits walks to `count_max` frames. Returns 0,
 * or -ENOSYS if there is no unwinder.
 */
int native_walk_begin(uint32_t count_max);
/* `hint` is any number that is likely to be the same for the same stack. */
void native_walk(struct native_stack *ret, uint64_t hint);
/* Returns whether this is code of the unwinder, which may hold its own locks when it allocates. */
bool native_walk_is_unwinder(uint64_t address);

#endif
