/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/python_frames.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/signal/process_file.h"
#include "language/copied_parts.h"
#include "language/language.h"
#include "process_stacks/call_frames.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"
#include "process_stacks/thread_names.h"
#include "unwind/python_walk.h"

void python_frames_init(struct python_frames *frames, const struct engine_config *config,
			struct process_tracker *tracker)
{
	frames->tracker = tracker;
	frames->only = config->python == ENGINE_PYTHON_ONLY;
	frames->holders_only = config->holders_only;
	frames->overwritten = config->overwrite_old;
	if (config->python != ENGINE_PYTHON_OFF)
		frames->interpreters = interpreters_new();
	/* Without memory, threads have the kernel's names. */
	if (frames->interpreters && tracker)
		frames->names = thread_names_new(tracker, frames->interpreters, false);
}

void python_frames_fini(struct python_frames *frames)
{
	thread_names_free(frames->names);
	interpreters_free(frames->interpreters);
}

static struct interpreter *interpreter_of(const struct python_frames *frames, pid_t pid)
{
	const struct tracked_process *process = process_tracker_find(frames->tracker, pid);

	return process && frames->interpreters
		       ? interpreters_of(frames->interpreters, tracked_process_number(process))
		       : NULL;
}

void python_frames_fork(const struct python_frames *frames, pid_t pid, pid_t parent)
{
	const struct tracked_process *child = process_tracker_find(frames->tracker, pid);
	const struct tracked_process *old = process_tracker_find(frames->tracker, parent);

	if (frames->interpreters && child && old)
		interpreters_fork(frames->interpreters, tracked_process_number(child),
				  tracked_process_number(old));
}

void python_frames_look(const struct python_frames *frames, struct process_file *file)
{
	const struct tracked_process *process;
	const struct python_layout *layout;

	if (!frames->interpreters || file->python_told || file->python_seen == file->maps_due + 1)
		return;
	process = process_tracker_find(frames->tracker, file->pid);
	if (!process)
		return;
	file->python_seen = file->maps_due + 1;
	(void)interpreters_look(frames->interpreters, tracked_process_number(process), file->pid);
	layout = interpreters_layout(frames->interpreters, tracked_process_number(process));
	if (!layout)
		return;
	process_file_tell_python(file, layout);
	file->python_told = true;
}

void python_frames_forget(const struct python_frames *frames, const struct process_file *file)
{
	const struct tracked_process *process = process_tracker_find(frames->tracker, file->pid);

	if (frames->interpreters)
		interpreters_counts(frames->interpreters)->torn +=
			atomic_load(&file->head->counts[SESSION_PYTHON_TORN]);
	/* After an exec, the process is already another one. */
	if (frames->interpreters && process && tracked_process_ended(process))
		interpreters_forget(frames->interpreters, tracked_process_number(process));
}

void python_frames_learn(const struct python_frames *frames, const struct process_file *file,
			 struct copied_parts *parts)
{
	struct interpreter *interpreter = interpreter_of(frames, file->pid);
	struct python_reader reader = {copied_parts_read, parts};
	uint64_t word = PYTHON_WORD | parts->items[0].address >> 3;

	/* Long ones were cut: those of large modules, which are there for long. */
	if (interpreter && interpreter_learn(interpreter, &reader, word) < 0)
		(void)interpreter_learn_remote(interpreter, file->pid, word);
}

/* Copies of code may be overwritten before they are read: most code is still there. */
static void learn_lost(struct interpreter *interpreter, const struct raw_stack *stack)
{
	for (uint32_t i = 0; i < stack->word_count; i++)
		if (!call_frames_are_known(interpreter, &stack->words[i], 1))
			(void)interpreter_learn_remote(interpreter, stack->pid, stack->words[i]);
}

enum python_split python_frames_split(const struct python_frames *frames, struct raw_stack *stack)
{
	uint32_t native = stack->count;
	struct interpreter *interpreter;

	while (native > 0 && python_is_word(stack->pcs[native - 1]))
		native--;
	if (native == stack->count)
		return PYTHON_SPLIT_NONE;
	interpreter = interpreter_of(frames, stack->pid);
	stack->words = stack->pcs + native;
	stack->word_count = stack->count - native;
	if (interpreter && frames->overwritten)
		learn_lost(interpreter, stack);
	stack->count = native;
	stack->words_cut = !(stack->words[stack->word_count - 1] & PYTHON_WORD_ENTRY);
	stack->words_only = frames->only;
	stack->interpreter = interpreter;
	if (interpreter && call_frames_are_known(interpreter, stack->words, stack->word_count))
		return PYTHON_SPLIT_CALLS;
	stack->word_count = 0;
	return PYTHON_SPLIT_UNNAMED;
}

bool python_frames_take(const struct python_frames *frames, struct raw_stack *stack)
{
	enum python_split split = python_frames_split(frames, stack);
	struct interpreter_counts *counts;

	if (!frames->interpreters)
		return true;
	counts = interpreters_counts(frames->interpreters);
	if (frames->holders_only &&
	    (split == PYTHON_SPLIT_NONE || !(stack->words[0] & PYTHON_WORD_HOLDS))) {
		counts->others++;
		return false;
	}
	counts->with_calls += split == PYTHON_SPLIT_CALLS;
	counts->unnamed += split == PYTHON_SPLIT_UNNAMED;
	return true;
}
