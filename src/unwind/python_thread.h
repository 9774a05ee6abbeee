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

/* The place in the lists of all threads of all interpreters; zeroed: before the first. */
struct python_threads {
	uint64_t interpreter;
	uint64_t state;
	uint32_t interpreters; /* visited so far */
	uint32_t threads;
};

/* The state of the next thread; 0: there are no more, or they cannot be read. */
static inline uint64_t python_next_thread(const struct python_layout *layout,
					  const struct python_reader *reader,
					  struct python_threads *at)
{
	if (at->state != 0 &&
	    (at->threads++ >= PYTHON_MAX_THREADS ||
	     !python_read_word(reader, at->state + layout->thread_next, &at->state)))
		return 0;
	while (at->state == 0) {
		uint64_t from = at->interpreters == 0 ? layout->runtime + layout->interpreters
						      : at->interpreter + layout->interpreter_next;

		if (at->interpreters++ >= PYTHON_MAX_INTERPRETERS ||
		    !python_read_word(reader, from, &at->interpreter) || at->interpreter == 0 ||
		    !python_read_word(reader, at->interpreter + layout->threads, &at->state))
			return 0;
	}
	return at->state;
}

/*
 * Finds the state of a thread by its thread pointer; of several, which sub-interpreters make, the
 * innermost that runs Python. 0: none.
 */
static inline uint64_t python_find_thread(const struct python_layout *layout,
					  const struct python_reader *reader,
					  uint64_t thread_pointer)
{
	struct python_threads at = {0};
	uint64_t found = 0;
	uint64_t frame;
	uint64_t state;

	while ((state = python_next_thread(layout, reader, &at)) != 0) {
		if (!python_is_thread(layout, reader, state, thread_pointer))
			continue;
		found = state;
		if (python_first_frame(layout, reader, state, &frame) == PYTHON_GOING && frame != 0)
			break;
	}
	return found;
}

/* Whether there is one interpreter only, so that a thread with this state has no other one. */
static inline bool python_is_single(const struct python_layout *layout,
				    const struct python_reader *reader, uint64_t state)
{
	uint64_t interpreter;
	uint64_t first;
	uint64_t next;

	return python_read_word(reader, state + PYTHON_THREAD_INTERPRETER, &interpreter) &&
	       python_read_word(reader, layout->runtime + layout->interpreters, &first) &&
	       first == interpreter &&
	       python_read_word(reader, interpreter + layout->interpreter_next, &next) && next == 0;
}

struct python_thread {
	uint64_t state; /* in its innermost interpreter */
	uint64_t pointer;
};

/*
 * Appends the calls of a thread in its other interpreters, which led to those of its state: the
 * newest interpreter is the first in the list.
 */
static inline enum python_end python_walk_outer(const struct python_layout *layout,
						const struct python_reader *reader,
						const struct python_thread *thread, uint64_t *words,
						uint32_t capacity, uint32_t *count)
{
	enum python_end end = PYTHON_ROOT;
	struct python_threads at = {0};
	bool is_outer = false;
	uint64_t other;
	uint32_t more;

	while (end == PYTHON_ROOT && (other = python_next_thread(layout, reader, &at)) != 0) {
		if (is_outer && python_is_thread(layout, reader, other, thread->pointer)) {
			end = python_walk(layout, reader, other, words + *count, capacity - *count,
					  &more);
			*count += more;
		}
		is_outer = is_outer || other == thread->state;
	}
	return end;
}

/* All calls of a thread, as python_walk(). */
static inline enum python_end python_walk_thread(const struct python_layout *layout,
						 const struct python_reader *reader,
						 const struct python_thread *thread,
						 uint64_t *words, uint32_t capacity,
						 uint32_t *ret_count)
{
	enum python_end end =
		python_walk(layout, reader, thread->state, words, capacity, ret_count);

	if (end != PYTHON_ROOT || python_is_single(layout, reader, thread->state))
		return end;
	end = python_walk_outer(layout, reader, thread, words, capacity, ret_count);
	if (end != PYTHON_ROOT && end != PYTHON_DEPTH)
		*ret_count = 0;
	return end;
}

#endif
