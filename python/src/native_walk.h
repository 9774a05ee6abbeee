/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_NATIVE_WALK_H
#define WICK_PYTHON_NATIVE_WALK_H

/*
 * native_walk: the return addresses of machine code between a request for memory and the
 * interpreter's loop, with the unwinder of libgcc.
 *
 * The walk ends with the innermost frame of the loop: what called that is told by the Python
 * frames. Frames of the tracer and of the preload library at the top are left out.
 *
 * Threads: any. A walk allocates nothing after native_walk_begin(). It must not be made with a
 * table locked: older C libraries take the lock of the dynamic linker.
 */

#include <stdbool.h>
#include <stdint.h>

#define NATIVE_WALK_MAX 128

struct native_stack {
	uint32_t count;
	uint64_t words[NATIVE_WALK_MAX]; /* innermost first */
};

/*
 * Finds the unwinder and the code to leave out; walks have at most `count_max` frames from now on.
 * Returns 0 or -ENOSYS: there is no unwinder.
 */
int native_walk_begin(uint32_t count_max);
/* `hint` is any number that is likely to be the same for the same stack. */
void native_walk(struct native_stack *ret, uint64_t hint);
/* Whether this is code of the unwinder, which may hold its own locks while it allocates. */
bool native_walk_is_unwinder(uint64_t address);

#endif
