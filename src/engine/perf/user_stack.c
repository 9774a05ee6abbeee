/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/user_stack.h"

#include <string.h>

#include "engine/perf/record.h"
#include "engine/process_tracker.h"
#include "engine/registers.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"

/* What the callbacks of a walk need. */
struct copy {
	struct process_tracker *tracker;
	const struct tracked_process *process;
	const struct sample_record *sample;
	uint64_t sp;
	struct unwind_module module; /* the one found last */
};

static bool read_copy(void *context, uint64_t address, uint64_t *ret)
{
	const struct copy *copy = context;
	uint64_t offset = address - copy->sp;

	if (offset > copy->sample->stack_bytes || copy->sample->stack_bytes - offset < sizeof(*ret))
		return false;
	memcpy(ret, copy->sample->stack + offset, sizeof(*ret));
	return true;
}

static const struct unwind_module *find_module(void *context, uint64_t pc)
{
	struct copy *copy = context;

	if (!tracked_process_code(copy->tracker, copy->process, copy->sample->time_ns, pc,
				  &copy->module))
		return NULL;
	return &copy->module;
}

void user_stack_walk(struct process_tracker *tracker, const struct tracked_process *process,
		     const struct sample_record *sample, struct unwind_trace *trace)
{
	struct copy copy = {.tracker = tracker, .process = process, .sample = sample};
	struct unwind_space space = {
		.limits = {.arch = &UNWIND_NATIVE,
			   .pac_mask = UNWIND_NATIVE.lr_register < UNWIND_REGISTERS
					       ? UNWIND_PAC_MASK
					       : 0},
		.reader = {.read = read_copy, .context = &copy},
		.find = find_module,
	};
	struct registers registers;
	struct unwind_frame frame;

	trace->count = 0;
	trace->end = UNWIND_UNREADABLE;
	/* A kernel thread, or one that has left user space for good, has no registers. */
	if (!sample->registers ||
	    registers_of_sample(registers_perf_mask(), sample->registers, &registers) < 0)
		return;
	unwind_frame_init(&frame, &UNWIND_NATIVE, registers.values, registers.pc);
	copy.sp = frame.sp;
	/* The copy may be all of the stack or not: its end is no reason of its own. */
	space.limits.stack.low = frame.sp;
	space.limits.stack.high = UINT64_MAX;
	unwind_walk(&space, &frame, trace);
}
