/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_PYTHON_H
#define WICK_PRELOAD_HEAP_HEAP_PYTHON_H

/*
 * heap_python: the Python calls of an allocation. They are part of its stack: the native frames are
 * often the same whoever called.
 *
 * Each allocation of a thread that runs Python hashes them, and they are read if the stack is new.
 * Whether a thread runs Python is found out only when its native stack is new: a thread that begins
 * to run Python has the interpreter's loop in a new stack.
 */

#include <stdbool.h>

struct preload_thread;

/*
 * Sets calls_hash in the heap_memory of the running thread: a hash of its calls, or 0 if it has
 * none or is not known to run Python. With find_out, calls are looked for in any case.
 */
void heap_python_look(struct preload_thread *thread, bool find_out);

/* Reads these calls. */
void heap_python_read(struct preload_thread *thread);

/* Writes code that the calls refer to. False: no space. */
bool heap_python_send(struct preload_thread *thread);

#endif
