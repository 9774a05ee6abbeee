/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_STACK_COPY_H
#define WICK_BPF_STACK_COPY_H

/*
 * stack_copy: the registers and the stack of the current task, if a table is missing: the reader
 * walks it.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "wire/bpf_walk.h"

/* Stacks are cut to this length while the ring is nearly full: better than losing them. */
#define SHORT_BYTES 8192u

/*
 * The parent of a task; puts the key of its space in place of the task's. Only while the task has
 * what it inherited: the same program (an exec would have another file or another stack) with as
 * much code, so that neither has mapped more. Otherwise NULL.
 */
static __always_inline const struct task_struct *parent_of(const struct task_struct *task,
							   struct bpf_walk_key *key)
{
	const struct task_struct *parent = BPF_CORE_READ(task, real_parent);
	const struct mm_struct *mm = parent ? BPF_CORE_READ(parent, mm) : NULL;
	const struct mm_struct *own = BPF_CORE_READ(task, mm);

	if (!mm || !own || BPF_CORE_READ(mm, start_stack) != key->start_stack ||
	    BPF_CORE_READ(mm, exe_file) != BPF_CORE_READ(own, exe_file) ||
	    BPF_CORE_READ(mm, exec_vm) != BPF_CORE_READ(own, exec_vm))
		return NULL;
	key->mm = (uint64_t)mm;
	key->tgid = (uint32_t)BPF_CORE_READ(parent, tgid);
	return parent;
}

/* Copies the readable part of the stack, page by page. */
static long copy_page(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct bpf_walk_slice *slice = &scratch->record.slice;
	uint64_t at = slice->stack_bytes;
	uint64_t address = slice->stack_start + at;
	uint64_t bytes = 4096 - (address & 4095);

	(void)index;
	if (BPF_WALK_IS_FULL(at) || at >= scratch->copy_most)
		return 1;
	if (bytes > 4096 || bpf_probe_read_user(slice->stack + at, bytes, (void *)address) != 0)
		return 1;
	slice->stack_bytes = at + bytes;
	return 0;
}

/*
 * Copies what functions keep below sp, if that was ever used: OpenSSL's functions keep their CFA
 * there.
 */
static __always_inline void copy_red_zone(const struct scratch *scratch,
					  struct bpf_walk_slice *slice)
{
	uint64_t sp = scratch->registers.values[WALK_ARCH.sp_register];
	uint64_t start = sp - WALK_ARCH.red_zone;

	slice->stack_start = sp;
	slice->stack_bytes = 0;
	if (WALK_ARCH.red_zone > 0 &&
	    bpf_probe_read_user(slice->stack, WALK_ARCH.red_zone, (void *)start) == 0) {
		slice->stack_start = start;
		slice->stack_bytes = WALK_ARCH.red_zone;
	}
}

/* Whether slices have used at most this many quarters of the ring since it was emptied. */
static __always_inline bool has_room(struct scratch *scratch, uint32_t quarters)
{
	if (scratch->drains != drains) {
		scratch->drains = drains;
		scratch->sent_bytes = 0;
	}
	return scratch->sent_bytes < ring_bytes / 4 * quarters;
}

/* Copies the stack from where the slice begins, and sends it. False if it is lost. */
static __always_inline bool send_copy(void *ctx, struct scratch *scratch)
{
	struct bpf_walk_slice *slice = &scratch->record.slice;
	uint64_t size;

	bpf_loop(BPF_WALK_SLICE_BYTES / 4096 + 1, copy_page, &scratch, 0);
	size = offsetof(struct bpf_walk_slice, stack) + slice->stack_bytes;
	scratch->sent_bytes += (uint32_t)size;
	return size <= sizeof(*slice) &&
	       bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, slice, size) == 0;
}

/*
 * Sends the rest of a stack that does not fit into a record, part by part. If nobody empties the
 * ring, the room is left for other stacks.
 */
static __noinline void send_more(void *ctx, struct scratch *scratch)
{
	struct bpf_walk_slice *slice = &scratch->record.slice;

	slice->head.kind = BPF_WALK_MORE;
	slice->head.kernel_count = 0;
	for (uint32_t i = 0; i < BPF_WALK_SLICE_MORE; i++) {
		if (!BPF_WALK_IS_FULL(slice->stack_bytes) || !has_room(scratch, 2))
			break;
		slice->stack_start += slice->stack_bytes;
		slice->stack_bytes = 0;
		if (!send_copy(ctx, scratch))
			break;
	}
}

/* Until the reader has described an address space, its stacks cost much and have no calls. */
static __always_inline void ring_bell(struct scratch *scratch)
{
	uint64_t now_ns = bpf_ktime_get_ns();
	uint64_t mm = scratch->record.slice.head.key.mm;

	if (now_ns - scratch->rang_ns < bell_gap_ns)
		return;
	scratch->rang_ns = now_ns;
	bpf_ringbuf_output(&bell, &mm, sizeof(mm), BPF_RB_FORCE_WAKEUP);
}

/* Sends the registers and the stack, because a table is missing. False if it is lost. */
static __always_inline bool send_slice(void *ctx, struct scratch *scratch, uint8_t kind)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task_btf();
	struct bpf_walk_slice *slice = &scratch->record.slice;
	const struct task_struct *parent;

	slice->head.kind = kind;
	slice->head.user_count = 0;
	slice->parent = slice->head.key;
	name_task(task, &slice->name);
	parent = parent_of(task, &slice->parent);
	slice->parent_pid = parent ? process_id(parent) : 0;
	slice->thread_pointer = thread_pointer_of(task);
	slice->pc = scratch->registers.pc;
#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_REGISTERS; i++)
		slice->registers[i] = scratch->registers.values[i];
	copy_red_zone(scratch, slice);
	scratch->copy_most = has_room(scratch, 3) ? BPF_WALK_SLICE_BYTES : SHORT_BYTES;
	count(BPF_WALK_COUNT_SLICES);
	if (scratch->walk.stranger)
		ring_bell(scratch);
	if (!send_copy(ctx, scratch))
		return false;
	if (BPF_WALK_IS_FULL(slice->stack_bytes) && scratch->walk.fresh)
		send_more(ctx, scratch);
	return true;
}

#endif
