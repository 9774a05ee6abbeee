/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_HOLD_H
#define WICK_PYTHON_HOLD_H

/*
 * hold: the Python object for which the tracer keeps its stacks.
 *
 * stop() and clear_traces() drop all stacks, and their ids are used again, unless somebody else
 * holds this object: a snapshot, an event or a traceback whose names are looked up later. Stacks
 * are then dropped when the last one is gone. There is one object at a time; the tracer holds it
 * while it traces. What is known by id can be kept in its attributes, which go with it.
 *
 * Threads: call with the GIL of the main interpreter.
 */

#include "version.h"

#include <stdbool.h>

int hold_add_type(PyObject *module);
/* Returns a new reference to the object, or NULL with an exception. */
PyObject *hold_get(void);

/* The tracer starts and stops holding the object. hold_begin() returns 0 or -ENOMEM. */
int hold_begin(void);
void hold_end(void);
/* Returns whether anybody other than the tracer holds the object. */
bool hold_is_shared(void);
/* Forgets what is kept in its attributes: the ids will be reused. */
void hold_forget(void);

#endif
