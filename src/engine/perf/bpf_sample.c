/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/bpf_sample.h"

#include <stddef.h>
#include <string.h>

#include <linux/perf_event.h>

#include "engine/ebpf/walker.h"
#include "engine/perf/record.h"
#include "engine/perf/state.h"
#include "engine/perf/user_stack.h"
#include "engine/process_tracker.h"
#include "unwind/walk.h"
#include "wire/bpf_walk.h"

_Static_assert(BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH + 4 <= MAX_CHAIN, "fits with its marks");
_Static_assert(BPF_WALK_REGISTERS == UNWIND_REGISTERS, "both count registers by DWARF number");

/* Adds addresses of a kind to the chain. */
static void add(struct perf_engine *engine, struct sample_record *sample, uint64_t mark,
		const uint8_t *pcs, uint64_t count)
{
	engine->chain[sample->count++] = mark;
	memcpy(engine->chain + sample->count, pcs, count * sizeof(uint64_t));
	sample->count += count;
}

static void add_end(struct perf_engine *engine, struct sample_record *sample, unsigned int end)
{
	engine->stats.ends[end - UNWIND_ROOT]++;
	if (end != UNWIND_ROOT)
		engine->chain[sample->count++] = PERF_MARK_CUT;
}

/* Walks the copy of a stack, for lack of tables in the kernel: from now on they are here. */
static bool walk_slice(struct perf_engine *engine, struct tracked_process *process,
		       struct sample_record *sample, const struct bpf_walk_head *head)
{
	struct unwind_trace trace = {.pcs = engine->chain + sample->count + 1,
				     .capacity = engine->depth};
	uint64_t registers[BPF_WALK_REGISTERS];
	uint64_t room = MAX_CHAIN - sample->count - 2;
	struct user_stack stack = {.time_ns = sample->time_ns,
				   .registers = registers,
				   .bytes = sample->raw + offsetof(struct bpf_walk_slice, stack)};

	if (sample->raw_bytes < offsetof(struct bpf_walk_slice, stack))
		return false;
	memcpy(&stack.pc, sample->raw + offsetof(struct bpf_walk_slice, pc), sizeof(stack.pc));
	memcpy(registers, sample->raw + offsetof(struct bpf_walk_slice, registers),
	       sizeof(registers));
	memcpy(&stack.size, sample->raw + offsetof(struct bpf_walk_slice, stack_bytes),
	       sizeof(stack.size));
	if (stack.size > sample->raw_bytes - offsetof(struct bpf_walk_slice, stack))
		return false;
	if (trace.capacity > room)
		trace.capacity = (uint32_t)room;
	user_stack_walk(engine->tracker, process, &stack, &trace);
	engine->chain[sample->count++] = (uint64_t)PERF_CONTEXT_USER;
	sample->count += trace.count;
	add_end(engine, sample, trace.end);
	engine->stats.slices++;
	engine->news = true;
	walker_want(engine->walker, &head->key, process);
	return true;
}

bool bpf_sample_read(struct perf_engine *engine, struct tracked_process *process,
		     struct sample_record *sample)
{
	const uint8_t *pcs = sample->raw + offsetof(struct bpf_walk_stack, pcs);
	struct bpf_walk_head head;
	uint64_t count;

	if (sample->raw_bytes < sizeof(head))
		return false;
	memcpy(&head, sample->raw, sizeof(head));
	sample->period = head.value;
	sample->chain = engine->chain;
	count = (uint64_t)head.kernel_count + head.user_count;
	if (head.kernel_count > BPF_WALK_KERNEL_DEPTH || head.user_count > BPF_WALK_DEPTH ||
	    count > (sample->raw_bytes - sizeof(head)) / sizeof(uint64_t))
		return false;
	if (head.kernel_count > 0)
		add(engine, sample, (uint64_t)PERF_CONTEXT_KERNEL, pcs, head.kernel_count);
	if (head.kind == BPF_WALK_SLICE)
		return walk_slice(engine, process, sample, &head);
	if (head.user_count > 0)
		add(engine, sample, (uint64_t)PERF_CONTEXT_USER,
		    pcs + head.kernel_count * sizeof(uint64_t), head.user_count);
	if (head.end >= UNWIND_ROOT && head.end < UNWIND_ENDS)
		add_end(engine, sample, head.end);
	else if (head.end == BPF_WALK_FOREIGN_USER)
		engine->stats.foreign++;
	return true;
}
