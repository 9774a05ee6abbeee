/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_WALK_H
#define WICK_BPF_WALK_H

/*
 * walk: walks a user stack inside the kernel, with the step that all walkers share. The stack is
 * read in small windows: frames may be large, and what is between the few words that matter is not
 * worth its cache misses.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/lookup.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "unwind/step.h"
#include "unwind/step_plain.h"
#include "wire/bpf_walk.h"

#define SMALL_WINDOW_BYTES 32u

/* Moves the window so that it begins at an address. */
static __noinline bool move_window(struct scratch *scratch, uint64_t address)
{
	struct walk *walk = &scratch->walk;

	walk->window_start = address;
	walk->window_bytes = WINDOW_BYTES;
	if (bpf_probe_read_user(scratch->window, WINDOW_BYTES, (void *)address) == 0)
		return true;
	/* Most likely the end of the stack. */
	walk->window_bytes = SMALL_WINDOW_BYTES;
	if (bpf_probe_read_user(scratch->window, SMALL_WINDOW_BYTES, (void *)address) == 0)
		return true;
	walk->window_bytes = 8;
	if (bpf_probe_read_user(scratch->window, 8, (void *)address) == 0)
		return true;
	walk->window_bytes = 0;
	return false;
}

/* The saved frame pointer is beside the return address, and what comes next is above. */
GLOBAL int read_far(struct scratch *scratch, uint64_t address)
{
	if (!scratch)
		return 0;
	return move_window(scratch, address - 16) || move_window(scratch, address);
}

static __always_inline bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
	struct scratch *scratch = context;
	uint64_t offset = address - scratch->walk.window_start;

	if (offset > WINDOW_BYTES - 8 || offset + 8 > scratch->walk.window_bytes) {
		if (!read_far(scratch, address))
			return false;
		offset = address - scratch->walk.window_start;
	}
	*ret = *(const uint64_t *)(scratch->window + (offset & (WINDOW_BYTES - 8)));
	return (address & 7) == 0; /* true of the stacks of every ABI */
}

GLOBAL int is_code_at(struct scratch *scratch, uint64_t address)
{
	if (!scratch)
		return 0;
	if (find_mapping(&scratch->walk, address))
		return 1;
	scratch->walk.doubted = true;
	return 0;
}

static __always_inline bool is_code(void *context, uint64_t address)
{
	return is_code_at(context, address) != 0;
}

static __always_inline bool read_call(void *context, uint64_t address, uint64_t *ret)
{
	(void)context;
	return bpf_probe_read_user(ret, sizeof(*ret), (void *)address) == 0;
}

/* It is unknown where stacks end: any may be left for another, once. */
static __always_inline bool find_stack(void *context, uint64_t sp, struct unwind_stack *ret)
{
	(void)context;
	ret->low = sp;
	ret->high = UINT64_MAX;
	return true;
}

static __always_inline void limits_init(struct unwind_limits *limits, uint64_t sp)
{
	__builtin_memset(limits, 0, sizeof(*limits));
	limits->arch = &WALK_ARCH;
	limits->pac_mask = WALK_ARCH.lr_register < UNWIND_REGISTERS ? UNWIND_PAC_MASK : 0;
	limits->alternate.low = sp;
	limits->alternate.high = UINT64_MAX;
}

/* The step of any frame. Its code is separate: most stacks need it only for their first frames. */
GLOBAL int step_any(struct scratch *scratch)
{
	const struct unwind_reader reader = {.read = read_stack,
					     .read_call = read_call,
					     .is_code = is_code,
					     .find_stack = find_stack,
					     .context = scratch};
	struct walk *walk;
	struct unwind_frame frame;
	struct unwind_limits limits;
	enum unwind_end end;

	if (!scratch)
		return 0;
	walk = &scratch->walk;
	frame = walk->frame;
	limits_init(&limits, 0);
	frame.registers = scratch->registers.values; /* only used for an interrupted frame */
	end = unwind_step(&limits, &reader,
			  &scratch->remembered[walk->place & (REMEMBERED - 1)].rule, &frame, NULL);
	frame.registers = NULL;
	walk->frame = frame;
	return (int)end;
}

static __always_inline uint8_t step_frame(struct scratch *scratch)
{
	const struct unwind_reader reader = {.read = read_stack, .context = scratch};
	struct walk *walk = &scratch->walk;
	const struct unwind_rule *rule = &scratch->remembered[walk->place & (REMEMBERED - 1)].rule;
	struct unwind_limits limits;

	if (!unwind_frame_is_plain(&walk->frame) || !unwind_rule_is_plain(rule))
		return (uint8_t)step_any(scratch);
	limits_init(&limits, 0);
	return (uint8_t)unwind_step_plain(&limits, &reader, rule, &walk->frame);
}

/* Adds a frame that a signal interrupted, see unwind_trace_pc(). */
static __noinline void mark_interrupted(struct scratch *scratch, uint64_t before)
{
	if (before < BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH)
		scratch->record.stack.pcs[before]++;
}

/* One frame: from the current one, whose rule is known, to its caller. */
static long walk_step(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct walk *walk = &scratch->walk;
	uint32_t place = walk->first + index + 1;
	bool was_exact = walk->frame.exact;
	bool exact;

	walk->end = step_frame(scratch);
	if (walk->end != UNWIND_GOING)
		return 1;
	exact = walk->frame.exact;
	if (!find_frame_rule(scratch, exact ? walk->frame.pc : walk->frame.pc - 1)) {
		walk->lacking = true;
		return 1;
	}
	if (index + 1 >= depth || place >= BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH) {
		walk->end = UNWIND_DEPTH;
		return 1;
	}
	/* The leaf is not a caller: it is stored unchanged. */
	if (exact && !was_exact && index > 0)
		mark_interrupted(scratch, place - 1);
	scratch->record.stack.pcs[place] = exact ? walk->frame.pc + 1 : walk->frame.pc;
	walk->count = index + 2;
	return 0;
}

#endif
