/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_PATCH_H
#define WICK_PYTHON_PATCH_H

/*
 * patch: redirects functions of the interpreter to ours while tracing.
 *
 * PyTraceMalloc_Track() and PyTraceMalloc_Untrack() report blocks to the interpreter's own tracer;
 * extension modules call them by name. Besides, taking an object from a free list does not call an
 * allocator: up to CPython 3.12, the only sign of it is a call of _Py_NewReference() or, where that
 * is inlined, of the function that it calls; later versions have an API for it. The first
 * instruction of these functions is replaced by a jump. If that is not possible, they stay as they
 * are, and patch_sees_reuse() returns false.
 *
 * Threads: call with the GIL held.
 */

#include <stdbool.h>

/* with_reuse: also report objects taken from free lists. */
void patch_install(bool with_reuse);
void patch_remove(void);
bool patch_sees_reuse(void);

#endif
