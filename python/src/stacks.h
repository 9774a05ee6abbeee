/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_STACKS_H
#define WICK_PYTHON_STACKS_H

/*
 * stacks: stacks and sites as Python objects, by their public ids: those of the second table have
 * TRACER_LOCKED_BIT set.
 *
 * Threads: call with the GIL of the main interpreter.
 */

#include "tracer.h"

/* Return whether there is such a stack or site. */
bool stacks_has_stack(uint32_t id);
bool stacks_has_site(uint32_t id);

/* Returns ((file, line), …), innermost first: a new reference, to one object for each id. */
PyObject *stacks_frames(uint32_t stack);
/* Frees the objects that stacks_frames() keeps: the ids will be reused. */
void stacks_forget(void);
uint32_t stacks_depth(uint32_t stack);
uint32_t stacks_interpreter(uint32_t stack);
/* Returns a tuple of function names, innermost first. */
PyObject *stacks_names(uint32_t stack);
/* Returns a tuple of return addresses, innermost first. */
PyObject *stacks_native(uint32_t stack);

/* Returns a tuple with (path or None, address in that file) for each return address. */
PyObject *stacks_native_places(uint32_t stack);

struct trace_site stacks_site(uint32_t site);
/* Returns the id of a site's stack. */
uint32_t stacks_of_site(uint32_t site);

/*
 * Returns the id of a block's stack, or TRACE_NONE. In domain 0, the block may come from an
 * allocator or be tracked.
 */
uint32_t stacks_of_block(uint32_t domain, uint64_t address);

/* Returns stacks_frames() of that stack, or None. */
PyObject *stacks_traceback_of_block(uint32_t domain, uint64_t address);

#endif
