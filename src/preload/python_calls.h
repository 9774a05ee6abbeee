/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_PYTHON_CALLS_H
#define WICK_PRELOAD_PYTHON_CALLS_H

/*
 * python_calls: the Python calls of the running thread, once the recorder has found out how the
 * interpreter of this program keeps them. It reads the interpreter's memory without its lock: what
 * changes meanwhile is recognised and left out. Async-signal-safe.
 */

#include <stdint.h>

struct preload_thread;

/*
 * Writes the calls after the first count addresses of thread->pcs, leaf first, and copies of code
 * that is new to the recorder to the ring. Returns how many there are.
 */
uint32_t python_calls_take(struct preload_thread *thread, uint32_t count);

#endif
