/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_PYTHON_H
#define WICK_PRELOAD_HEAP_HEAP_PYTHON_H

/*
 * heap_python: the Python calls of an allocation. They are part of its stack: the native frames are
 * often the same whoever called.
 *
 * Each allocation of a thread that runs Python hashes them, and they are read if the stack is new.
 * Whether a thread runs Python is found out only when its native stack is new: the interpreter's
 * loop is in it.
 */

#include <stdbool.h>

struct preload_thread;

/*
 * Hashes the calls of the running thread, if it is known to run Python, or if that is to be found
 * out: calls_hash of its heap_memory.
 */
void heap_python_look(struct preload_thread *thread, bool find_out);

/* Reads these calls. */
void heap_python_read(struct preload_thread *thread);

/* Writes code that the calls refer to. False: no space. */
bool heap_python_send(struct preload_thread *thread);

#endif
