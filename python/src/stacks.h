/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_STACKS_H
#define WICK_PYTHON_STACKS_H

/*
 * stacks: stacks and sites as Python objects, by the ids that people outside see: the second
 * table's have TRACER_LOCKED_BIT.
 *
 * Threads: call with the GIL of the main interpreter.
 */

#include "tracer.h"

/* Whether there is such a stack or site. */
bool stacks_has_stack(uint32_t id);
bool stacks_has_site(uint32_t id);

/* ((file, line), …), innermost first; the same object for the same id. A new reference. */
PyObject *stacks_frames(uint32_t stack);
uint32_t stacks_depth(uint32_t stack);
/* A tuple of the functions' names, innermost first. */
PyObject *stacks_names(uint32_t stack);
/* A tuple of return addresses, innermost first. */
PyObject *stacks_native(uint32_t stack);

/* A tuple of (path or None, address as in that file) for each of them. */
PyObject *stacks_native_places(uint32_t stack);

const struct trace_site *stacks_site(uint32_t site);
/* The id of a site's stack. */
uint32_t stacks_of_site(uint32_t site);

/* stacks_frames() of a block, or None. For domain 0: of an allocator or tracked. */
PyObject *stacks_traceback_of_block(uint32_t domain, uint64_t address);

#endif
