/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/python_code.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/ebpf/bpf_programs.h"
#include "engine/perf/perf_sample.h"
#include "language/copied_parts.h"
#include "language/language.h"
#include "perf_records/perf_record.h"
#include "proc/remote_memory.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/user_stack.h"
#include "unwind/python_walk.h"
#include "wire/bpf_walk.h"

/* How much of a stack is compared, from its top. */
#define COMPARED_BYTES 8192u

static bool are_sizes_good(const struct bpf_walk_code *code, size_t raw_bytes)
{
	return code->object_bytes <= sizeof(code->object) &&
	       code->name_bytes <= sizeof(code->name) && code->file_bytes <= sizeof(code->file) &&
	       code->lines_bytes <= raw_bytes - offsetof(struct bpf_walk_code, lines);
}

void python_code_take(struct bpf_programs *programs, const struct sample_record *sample)
{
	struct bpf_walk_code code;
	struct tracked_process *process;
	struct interpreter *interpreter;
	struct copied_parts parts;
	struct python_reader reader = {copied_parts_read, &parts};
	uint32_t thread;
	uint64_t word;

	if (!programs->interpreters || sample->raw_bytes < offsetof(struct bpf_walk_code, lines))
		return;
	memcpy(&code, sample->raw, offsetof(struct bpf_walk_code, lines));
	if (!are_sizes_good(&code, sample->raw_bytes) ||
	    process_tracker_sample(programs->output->tracker, sample->pid, sample->tid, &process,
				   &thread) < 0)
		return;
	/* A forked child is described to the programs a little later. */
	interpreter = interpreters_look(programs->interpreters, tracked_process_number(process),
					sample->pid);
	if (!interpreter)
		return;
	parts = (struct copied_parts){{
		{code.object_address, code.object_bytes, code.object},
		{code.name_address, code.name_bytes, code.name},
		{code.file_address, code.file_bytes, code.file},
		{code.lines_address, code.lines_bytes,
		 sample->raw + offsetof(struct bpf_walk_code, lines)},
	}};
	word = PYTHON_WORD | code.object_address >> 3;
	/* Long ones were cut: those of large modules, which are there for long. */
	if (interpreter_learn(interpreter, &reader, word) < 0)
		(void)interpreter_learn_remote(interpreter, sample->pid, word);
}

/* Whether the memory of a stack is as it was: its thread has not run since. */
static bool is_unchanged(pid_t pid, const struct user_stack *stack)
{
	size_t size = stack->size < COMPARED_BYTES ? (size_t)stack->size : COMPARED_BYTES;
	uint8_t now[COMPARED_BYTES];

	return size > 0 && remote_memory_copy(pid, stack->start, now, size) == size &&
	       memcmp(now, stack->bytes, size) == 0;
}

uint32_t python_sleeper_calls(struct bpf_programs *programs, const struct tracked_process *process,
			      const struct sample_record *sample, const struct user_stack *stack,
			      uint64_t *words, uint32_t room)
{
	struct interpreter *interpreter;
	uint64_t thread_pointer;
	uint32_t count = 0;

	if (!programs->interpreters || tracked_process_ended(process))
		return 0;
	interpreter = interpreters_look(programs->interpreters, tracked_process_number(process),
					sample->pid);
	if (!interpreter || !interpreter_layout(interpreter))
		return 0; /* all stacks of a process have calls, or none */
	memcpy(&thread_pointer, sample->raw + offsetof(struct bpf_walk_slice, thread_pointer),
	       sizeof(thread_pointer));
	(void)interpreter_walk(interpreter, sample->pid, thread_pointer, words, room, &count);
	return is_unchanged(sample->pid, stack) ? count : 0;
}
