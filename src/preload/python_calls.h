/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_PYTHON_CALLS_H
#define WICK_PRELOAD_PYTHON_CALLS_H

/*
 * python_calls: the Python calls of the running thread, once the recorder has found out how the
 * interpreter of this program keeps them. It reads the interpreter's memory without its lock: what
 * changes meanwhile is recognised and left out. Async-signal-safe.
 */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;
struct python_layout;
struct ring_part;

/* How the interpreter keeps its calls. False: the recorder has found none, or not yet. */
bool python_calls_layout(struct python_layout *ret);

/* Reads the calls of the running thread, leaf first. Returns how many there are. */
uint32_t python_calls_read(struct preload_thread *thread, const struct python_layout *layout,
			   uint64_t *words, uint32_t capacity);

/*
 * A hash of up to that many of these calls, without reading all of each: some nanoseconds for a
 * call. It covers what code objects refer to: others may have been at the same addresses before.
 * 0: there are none.
 */
uint64_t python_calls_hash(struct preload_thread *thread, const struct python_layout *layout,
			   uint32_t limit);

/* Writes a code object to a ring: SESSION_CODE_PARTS. False if there is no room. */
typedef bool python_calls_put(struct preload_thread *thread, const struct ring_part *parts);

/*
 * Writes the code of calls that its reader does not know yet. Readers are told apart by a number.
 * False if there was no room for all.
 */
bool python_calls_send(struct preload_thread *thread, const struct python_layout *layout,
		       const uint64_t *words, uint32_t count, uint64_t reader,
		       python_calls_put *put);

/*
 * Writes the calls after the first count addresses of thread->pcs, leaf first, and copies of code
 * that is new to the recorder to the ring. Returns how many there are.
 */
uint32_t python_calls_take(struct preload_thread *thread, uint32_t count);

#endif
