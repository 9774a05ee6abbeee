/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_PATCH_H
#define WICK_PYTHON_PATCH_H

/*
 * patch: makes functions of the interpreter call ours while we trace.
 *
 * PyTraceMalloc_Track() and PyTraceMalloc_Untrack() report blocks to the interpreter's own tracer;
 * extension modules call them by name. And an object that is taken from a free list calls no
 * allocator: up to CPython 3.12 the only sign of it is a call of _Py_NewReference(), or of what
 * that calls where it was inlined; later versions have an interface for it. The first instruction
 * of these functions becomes a jump. Where that is not possible, all stays as it is:
 * patch_sees_reuse() says so.
 *
 * Threads: call with the GIL.
 */

#include <stdbool.h>

/* with_reuse: objects from free lists too. */
void patch_install(bool with_reuse);
void patch_remove(void);
bool patch_sees_reuse(void);

#endif
