/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_PYTHON_STATE_H
#define WICK_BPF_PYTHON_STATE_H

/* python_state: finds what the interpreters of the current task keep about its thread. */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/python_maps.h"
#include "bpf/scratch.h"
#include "unwind/python_layout.h"
#include "unwind/python_thread.h"

#define PYTHON_SEARCH 1024u /* threads that are looked at to find one */

static __always_inline bool read_word(uint64_t address, uint64_t *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (void *)address) == 0;
}

static __always_inline bool is_own_thread(const struct python_layout *layout, uint64_t state,
					  uint64_t thread_pointer)
{
	uint64_t id;

	return read_word(state + layout->thread_id, &id) &&
	       thread_pointer - id <= layout->thread_slack;
}

/* As python_is_listed(). */
static __always_inline bool is_listed(const struct python_layout *layout, uint64_t state)
{
	uint64_t from;
	uint64_t to;

	if (!read_word(state + PYTHON_THREAD_PREVIOUS, &from))
		return false;
	if (from != 0)
		return read_word(from + layout->thread_next, &to) && to == state;
	return read_word(state + PYTHON_THREAD_INTERPRETER, &from) &&
	       read_word(from + layout->threads, &to) && to == state;
}

/* The innermost frame of a thread state; 0: none. */
static __always_inline uint64_t first_frame(const struct python_layout *layout, uint64_t state)
{
	uint64_t frame = 0;

	if (!read_word(state + layout->frame, &frame))
		return 0;
	if (layout->c_frame != PYTHON_NO_OFFSET && frame != 0 &&
	    !read_word(frame + layout->c_frame, &frame))
		return 0;
	return frame;
}

/* One step of the search: a thread, or the next interpreter when there are no more. */
static long search_step(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct python_calls *calls = &scratch->python;
	const struct python_layout *layout = &calls->layout;

	(void)index;
	if (calls->state == 0)
		return calls->interpreter == 0 ||
		       !read_word(calls->interpreter + layout->threads, &calls->state) ||
		       !read_word(calls->interpreter + layout->interpreter_next,
				  &calls->interpreter);
	calls->first_state = calls->first_state ?: calls->state;
	if (!is_own_thread(layout, calls->state, calls->thread_pointer))
		return !read_word(calls->state + layout->thread_next, &calls->state);
	/* It has one state in each interpreter; that of one without calls is of no use. */
	if (calls->is_single || first_frame(layout, calls->state) != 0) {
		calls->states[calls->state_count & (PYTHON_STATES - 1)] = calls->state;
		calls->state_count++;
	}
	calls->state = 0;
	return calls->is_single || calls->state_count == PYTHON_STATES;
}

/* Whether the process has one interpreter. */
static __always_inline bool is_single(const struct python_layout *layout, uint64_t *ret_first)
{
	uint64_t next = 1;

	return read_word(layout->runtime + layout->interpreters, ret_first) && *ret_first != 0 &&
	       read_word(*ret_first + layout->interpreter_next, &next) && next == 0;
}

/* Finds the state of the thread; 0: none. The only thread may still have an old pointer. */
static __noinline uint64_t find_state(struct scratch *scratch)
{
	struct python_calls *calls = &scratch->python;
	struct python_thread_key key = {scratch->record.stack.head.key.mm, calls->thread_pointer};
	uint64_t *known = bpf_map_lookup_elem(&python_threads, &key);
	uint64_t found;

	calls->state = calls->interpreter = calls->first_state = 0;
	calls->state_count = calls->state_at = 0;
	calls->is_single = is_single(&calls->layout, &calls->interpreter);
	if (known && calls->is_single &&
	    is_own_thread(&calls->layout, *known, calls->thread_pointer) &&
	    is_listed(&calls->layout, *known))
		return *known;
	bpf_loop(PYTHON_SEARCH, search_step, &scratch, 0);
	/* Up to Linux 6.1, a value for a map may not be in a global function's argument. */
	found = calls->state_count != 0 ? calls->states[0] : 0;
	if (found != 0 && calls->is_single)
		bpf_map_update_elem(&python_threads, &key, &found, BPF_ANY);
	else if (found == 0 && THREAD_POINTER_MAY_BE_OLD && calls->is_alone)
		found = calls->first_state;
	return found;
}

/* As python_holds_gil(). */
static __always_inline bool holds_gil(const struct python_layout *layout, uint64_t state)
{
	uint64_t gil = layout->runtime + layout->gil;
	uint64_t holder;
	uint64_t locked;

	if (layout->gil == PYTHON_NO_OFFSET)
		return false;
	if (layout->version >= PYTHON_GIL_OF_INTERPRETER &&
	    (!read_word(state + PYTHON_THREAD_INTERPRETER, &gil) ||
	     !read_word(gil + layout->gil, &gil)))
		return false;
	return read_word(gil + PYTHON_GIL_HOLDER, &holder) && holder == state &&
	       read_word(gil + PYTHON_GIL_LOCKED, &locked) && (int32_t)locked == 1;
}

#endif
