/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_PYTHON_H
#define WICK_BPF_PYTHON_H

/*
 * python: the Python calls of the current task, behind the native part of its stack, and which of
 * their code objects the reader does not know: see python_code.h.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/python_maps.h"
#include "bpf/python_state.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "unwind/python_layout.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"
#include "wire/bpf_walk.h"

/* Remembers a code object that the reader does not know yet. */
static __always_inline void note_code(struct scratch *scratch, uint64_t address)
{
	struct python_calls *calls = &scratch->python;
	struct python_code_key key = {scratch->record.stack.head.key, address};
	uint32_t size = (uint32_t)calls->layout.code_lines + 8 - calls->layout.code_file;
	uint64_t *known = bpf_map_lookup_elem(&python_codes, &key);
	uint64_t mix;

	if (size > sizeof(calls->refers))
		size = sizeof(calls->refers);
	if (bpf_probe_read_user(calls->refers, size, (void *)(address + calls->layout.code_file)) !=
	    0)
		return;
	mix = calls->refers[0] * 3 + calls->refers[1] * 5 + calls->refers[2] * 7 +
	      calls->refers[3] * 11;
	if (known && *known == mix)
		return;
	if (calls->new_count < BPF_WALK_NEW_CODES) {
		calls->new_codes[calls->new_count & (BPF_WALK_NEW_CODES - 1)] = address;
		calls->new_mixes[calls->new_count & (BPF_WALK_NEW_CODES - 1)] = mix;
		calls->new_count++;
	}
}

/* Sets a bit in the call at a place. */
static __noinline void mark(struct scratch *scratch, uint32_t place, uint64_t bit)
{
	uint64_t at = place;

	if (at < BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH)
		scratch->record.stack.pcs[at] |= bit;
}

/* The calls of the thread's next interpreter follow. Returns whether there is one. */
static __always_inline bool next_interpreter(struct scratch *scratch, uint32_t place)
{
	struct python_calls *calls = &scratch->python;

	if (calls->state_at + 1 >= calls->state_count)
		return false;
	calls->state_at++;
	if (calls->count > 0)
		mark(scratch, place - 1, PYTHON_WORD_ENTRY);
	calls->shims = 0;
	calls->frame =
		first_frame(&calls->layout, calls->states[calls->state_at & (PYTHON_STATES - 1)]);
	return true;
}

/* One frame. */
static long python_step(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct python_calls *calls = &scratch->python;
	uint32_t place = calls->first + calls->count;
	uint32_t size = calls->layout.frame_bytes;
	struct python_frame frame;

	(void)index;
	calls->end = PYTHON_ROOT;
	if (calls->frame == 0)
		return !next_interpreter(scratch, place);
	calls->end = PYTHON_DEPTH;
	if (place >= BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH || calls->count >= calls->room)
		return 1;
	calls->end = PYTHON_UNREADABLE;
	if (size > sizeof(calls->block))
		size = sizeof(calls->block);
	if (bpf_probe_read_user(calls->block, size, (void *)calls->frame) != 0)
		return 1;
	calls->end = PYTHON_TORN;
	if (!python_frame_decode(&calls->layout, calls->block, calls->frame, &frame))
		return 1;
	if (frame.word != 0) {
		note_code(scratch, python_word_code(frame.word));
		scratch->record.stack.pcs[place] = frame.word;
		calls->count++;
		calls->shims = 0;
	} else {
		if (calls->count > 0)
			mark(scratch, place - 1, PYTHON_WORD_ENTRY);
		if (++calls->shims > 2)
			return 1;
	}
	calls->frame = frame.previous;
	return 0;
}

/* Appends the calls to the record of a stack whose native part is there. */
GLOBAL int walk_python(struct scratch *scratch)
{
	struct python_calls *calls;
	uint64_t state;

	if (!scratch)
		return 0;
	calls = &scratch->python;
	calls->count = calls->shims = calls->new_count = 0;
	state = find_state(scratch);
	if (state == 0)
		return 0;
	calls->frame = first_frame(&calls->layout, state);
	calls->first = scratch->walk.first + scratch->walk.count;
	calls->room =
		scratch->walk.count < BPF_WALK_DEPTH ? BPF_WALK_DEPTH - scratch->walk.count : 0;
	calls->end = PYTHON_DEPTH;
	bpf_loop(BPF_WALK_DEPTH + PYTHON_STATES, python_step, &scratch, 0);
	if (calls->end != PYTHON_ROOT && calls->end != PYTHON_DEPTH) {
		count(BPF_WALK_COUNT_TORN);
		calls->count = 0;
		return 0;
	}
	if (calls->end == PYTHON_ROOT && calls->count > 0)
		mark(scratch, calls->first + calls->count - 1, PYTHON_WORD_ENTRY);
	if (calls->count > 0 && holds_gil(&calls->layout, state))
		mark(scratch, calls->first, PYTHON_WORD_HOLDS);
	return (int)calls->count;
}

/* Reads the interpreter of a space and its calls. Returns how many were appended. */
static __always_inline uint32_t append_calls(const struct task_struct *task,
					     struct scratch *scratch,
					     const struct bpf_walk_key *space)
{
	const struct python_layout *layout;
	int count;

	scratch->python.new_count = 0;
	if (!with_python)
		return 0;
	layout = bpf_map_lookup_elem(&pythons, space);
	if (!layout)
		return 0;
	scratch->python.layout = *layout;
	scratch->python.thread_pointer = thread_pointer_of(task);
	scratch->python.is_alone = BPF_CORE_READ(task, signal, live.counter) == 1;
	count = walk_python(scratch);
	return count > 0 && count <= (int)BPF_WALK_DEPTH ? (uint32_t)count : 0;
}

#endif
