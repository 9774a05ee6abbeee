/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/user_stack.h"

#include <string.h>

#include "process_stacks/process_tracker.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"

/* What the callbacks of a walk need. */
struct copy {
	struct process_tracker *tracker;
	const struct tracked_process *process;
	const struct user_stack *stack;
	struct unwind_module module; /* the last one found */
};

static bool read_copy(void *context, uint64_t address, uint64_t *ret)
{
	const struct copy *copy = context;
	uint64_t offset = address - copy->stack->start;

	if (offset > copy->stack->size || copy->stack->size - offset < sizeof(*ret))
		return false;
	memcpy(ret, copy->stack->bytes + offset, sizeof(*ret));
	return true;
}

/* Code around a call does not change while its process lives. */
static bool read_call(void *context, uint64_t address, uint64_t *ret)
{
	const struct copy *copy = context;

	return tracked_process_read(copy->tracker, copy->process, address, ret);
}

static const struct unwind_module *find_module(void *context, uint64_t pc)
{
	struct copy *copy = context;

	if (!tracked_process_code(copy->tracker, copy->process, copy->stack->time_ns, pc,
				  &copy->module))
		return NULL;
	return &copy->module;
}

void user_stack_walk(struct process_tracker *tracker, const struct tracked_process *process,
		     const struct user_stack *stack, struct unwind_trace *trace)
{
	struct copy copy = {.tracker = tracker, .process = process, .stack = stack};
	struct unwind_space space = {
		.limits = {.arch = &UNWIND_NATIVE,
			   .pac_mask = UNWIND_NATIVE.lr_register < UNWIND_REGISTERS
					       ? UNWIND_PAC_MASK
					       : 0},
		.reader = {.read = read_copy, .read_call = read_call, .context = &copy},
		.find = find_module,
	};
	struct unwind_frame frame;

	unwind_frame_init(&frame, &UNWIND_NATIVE, stack->registers, stack->pc);
	/* The copy may or may not be the whole stack: its end is not a reason to stop. */
	space.limits.stack.low = frame.sp;
	space.limits.stack.high = UINT64_MAX;
	unwind_walk(&space, &frame, trace);
}
