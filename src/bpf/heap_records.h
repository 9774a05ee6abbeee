/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_HEAP_RECORDS_H
#define WICK_BPF_HEAP_RECORDS_H

/*
 * heap_records: records of what happens to blocks, and the blocks whose end is awaited.
 *
 * Programs at an allocator's functions run in the context of a thread, and others may interrupt
 * them: they take a scratch and give it back.
 */

#include "bpf/arch/native.h"
#include "bpf/heap_thread.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/scratch.h"
#include "bpf/stack_copy.h"
#include "bpf/take_stack.h"
#include "wire/bpf_heap.h"
#include "wire/bpf_walk.h"

#define HEAP_SLOTS 2u /* scratches of a CPU: one for an interrupted program */

const volatile uint64_t heap_sample_bytes = 0; /* between sampled blocks; 0: all are reported */

struct heap_block {
	uint64_t address;
	uint32_t tgid;
	uint32_t zero;
};

/* Sampled blocks that are live. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct heap_block);
	__type(value, uint32_t);
} heap_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} heap_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BPF_HEAP_COUNTERS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} heap_counters SEC(".maps");

static __always_inline void heap_count(uint32_t counter)
{
	uint64_t *value = bpf_map_lookup_elem(&heap_counters, &counter);

	if (value)
		++*value; /* of this CPU only; an interrupt may lose one */
}

static __always_inline struct scratch *heap_take_scratch(void)
{
	uint32_t first = bpf_get_smp_processor_id() * HEAP_SLOTS;

	for (uint32_t i = 0; i < HEAP_SLOTS; i++) {
		uint32_t at = first + i;
		struct scratch *scratch = bpf_map_lookup_elem(&heap_scratch, &at);

		if (scratch && __sync_val_compare_and_swap(&scratch->busy, 0, 1) == 0)
			return scratch;
	}
	return NULL;
}

static __always_inline void heap_tell_end(void *ctx, uint8_t op, uint64_t cookie, uint64_t block)
{
	struct bpf_heap_end end = {.kind = BPF_WALK_HEAP_END,
				   .op = op,
				   .call = (uint8_t)BPF_HEAP_CALL_OF(cookie),
				   .block = block};

	heap_count(BPF_HEAP_COUNT_EVENTS);
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &end, sizeof(end)) != 0)
		count(BPF_WALK_COUNT_LOST);
}

/*
 * Keeps the part of a stack that was walked if it cannot be walked to its end; at least the leaf.
 */
static __always_inline void heap_cut_stack(struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;

	if (scratch->walk.count == 0) {
		scratch->record.stack.pcs[BPF_HEAP_WORDS] = scratch->registers.pc;
		scratch->walk.count = 1;
	}
	head->user_count = scratch->walk.count;
	head->end = UNWIND_NO_RULE;
	heap_count(BPF_HEAP_COUNT_BARE);
}

/* A block was allocated: its caller continues after the call that has just returned. */
static __always_inline void heap_tell_block(struct cpu_registers *ctx, struct task_struct *task,
					    const struct heap_thread *thread, uint64_t block,
					    uint32_t call)
{
	struct scratch *scratch = heap_take_scratch();
	struct bpf_walk_head *head;
	bool sent;

	heap_count(BPF_HEAP_COUNT_EVENTS);
	if (!scratch) {
		count(BPF_WALK_COUNT_LOST);
		return;
	}
	head = &scratch->record.stack.head;
	begin_record(task, scratch);
	head->kernel_count = BPF_HEAP_WORDS;
	scratch->record.stack.pcs[BPF_HEAP_WORD_BLOCK] = block;
	scratch->record.stack.pcs[BPF_HEAP_WORD_SIZE] = thread->size;
	scratch->record.stack.pcs[BPF_HEAP_WORD_CALL] = call;
	registers_copy(&scratch->registers, ctx);
	scratch->registers.pc--; /* in the call, as for all frames but the leaf */
	registers_forget_call(&scratch->registers);
	scratch->walk.count = 0;
	if (!walk_user(task, scratch) && has_room(scratch, 3)) {
		sent = send_slice(ctx, scratch, BPF_WALK_HEAP_SLICE);
	} else {
		if (head->user_count == 0)
			heap_cut_stack(scratch);
		head->kind = BPF_WALK_HEAP;
		sent = output_stack(ctx, scratch, head->kernel_count + head->user_count);
	}
	if (!sent)
		count(BPF_WALK_COUNT_LOST);
	scratch->busy = 0;
}

static __always_inline struct heap_block heap_block_of(uint64_t address)
{
	return (struct heap_block){.address = address,
				   .tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32)};
}

/* Whether the end of a block is reported. For a sampled block that happens once. */
static __always_inline bool heap_take_block(uint64_t address)
{
	struct heap_block block = heap_block_of(address);

	if (address == 0 || heap_sample_bytes == 0)
		return address != 0;
	return bpf_map_lookup_elem(&heap_blocks, &block) &&
	       bpf_map_delete_elem(&heap_blocks, &block) == 0;
}

static __always_inline bool heap_keep_block(uint64_t address)
{
	struct heap_block block = heap_block_of(address);
	uint32_t one = 1;

	if (heap_sample_bytes == 0 || bpf_map_update_elem(&heap_blocks, &block, &one, BPF_ANY) == 0)
		return true;
	heap_count(BPF_HEAP_COUNT_UNKEPT);
	return false;
}

#endif
