/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_PYTHON_THREAD_H
#define WICK_UNWIND_PYTHON_THREAD_H

/*
 * python_thread: finds what an interpreter keeps about a thread. Threads are known by their thread
 * pointer, which is the same inside and outside of a container and after a fork. Freestanding.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/python_layout.h"
#include "unwind/python_walk.h"

/* Limits of the search for a thread. */
#define PYTHON_MAX_INTERPRETERS 64u
#define PYTHON_MAX_THREADS 4096u

/* Whether a thread state is that of the thread with this thread pointer. */
static inline bool python_is_thread(const struct python_layout *layout,
				    const struct python_reader *reader, uint64_t state,
				    uint64_t thread_pointer)
{
	uint64_t id;

	return python_read_word(reader, state + layout->thread_id, &id) &&
	       thread_pointer - id <= layout->thread_slack;
}

/* The same in all versions. */
#define PYTHON_THREAD_PREVIOUS 0u
#define PYTHON_THREAD_INTERPRETER 16u

#define PYTHON_GIL_OF_INTERPRETER 0x030cu /* since this version */

/* Whether a thread state that was found before is still one: the list of threads leads to it. */
static inline bool python_is_listed(const struct python_layout *layout,
				    const struct python_reader *reader, uint64_t state)
{
	uint64_t from;
	uint64_t to;

	if (!python_read_word(reader, state + PYTHON_THREAD_PREVIOUS, &from))
		return false;
	if (from != 0)
		return python_read_word(reader, from + layout->thread_next, &to) && to == state;
	return python_read_word(reader, state + PYTHON_THREAD_INTERPRETER, &from) &&
	       python_read_word(reader, from + layout->threads, &to) && to == state;
}

/* The address of the global lock of a thread; 0: unknown. */
static inline uint64_t python_gil(const struct python_layout *layout,
				  const struct python_reader *reader, uint64_t state)
{
	uint64_t interpreter;
	uint64_t gil;

	if (layout->gil == PYTHON_NO_OFFSET)
		return 0;
	if (layout->version < PYTHON_GIL_OF_INTERPRETER)
		return layout->runtime + layout->gil;
	return python_read_word(reader, state + PYTHON_THREAD_INTERPRETER, &interpreter) &&
			       python_read_word(reader, interpreter + layout->gil, &gil)
		       ? gil
		       : 0;
}

/* Whether a thread holds the global lock. */
static inline bool python_holds_gil(const struct python_layout *layout,
				    const struct python_reader *reader, uint64_t state)
{
	uint64_t gil = python_gil(layout, reader, state);
	uint64_t holder;
	uint64_t locked;

	return gil != 0 && python_read_word(reader, gil + PYTHON_GIL_HOLDER, &holder) &&
	       holder == state && python_read_word(reader, gil + PYTHON_GIL_LOCKED, &locked) &&
	       (int32_t)locked == 1;
}

/*
 * Finds the state of a thread by its thread pointer; of several, which sub-interpreters make, one
 * that runs Python. 0: none.
 */
static inline uint64_t python_find_thread(const struct python_layout *layout,
					  const struct python_reader *reader,
					  uint64_t thread_pointer)
{
	uint32_t threads = 0;
	uint64_t interpreter;
	uint64_t found = 0;

	if (!python_read_word(reader, layout->runtime + layout->interpreters, &interpreter))
		return 0;
	for (uint32_t i = 0; i < PYTHON_MAX_INTERPRETERS && interpreter != 0; i++) {
		uint64_t state;
		uint64_t frame;

		if (!python_read_word(reader, interpreter + layout->threads, &state))
			break;
		for (; state != 0 && threads < PYTHON_MAX_THREADS; threads++) {
			if (python_is_thread(layout, reader, state, thread_pointer)) {
				found = state;
				if (python_first_frame(layout, reader, state, &frame) ==
					    PYTHON_GOING &&
				    frame != 0)
					return state;
			}
			if (!python_read_word(reader, state + layout->thread_next, &state))
				break;
		}
		if (!python_read_word(reader, interpreter + layout->interpreter_next, &interpreter))
			break;
	}
	return found;
}

#endif
