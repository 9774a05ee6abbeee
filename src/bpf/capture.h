/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_CAPTURE_H
#define WICK_BPF_CAPTURE_H

/*
 * capture: the stack of the current task, kernel's and user's part, in the
 * record of a scratch; or a slice of its memory, for lack of a table.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/registers.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "bpf/walk.h"
#include "wire/bpf_walk.h"

/* A child is told of when it has been seen: for so long its parent's space will do. */
#define YOUNG_NS 200000000ull
#define ANCESTORS 3 /* of which one may be known: a shell's children have children */

static __always_inline void key_of(const struct task_struct *task, struct bpf_walk_key *key)
{
	const struct mm_struct *mm = BPF_CORE_READ(task, mm);

	key->mm = (uint64_t)mm;
	key->start_stack = mm ? BPF_CORE_READ(mm, start_stack) : 0;
	key->tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32);
	key->zero = 0;
}

/*
 * The parent of a task, and the key of its space in place of the task's, as long as the task
 * has what it had from its parent: the same program (an exec would come from another file, or
 * have another stack) with as much code, so that neither has mapped more. NULL when it is
 * another.
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

/* Copies what can be read of the stack, page by page. */
static long copy_page(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct bpf_walk_slice *slice = &scratch->record.slice;
	uint64_t at = slice->stack_bytes;
	uint64_t address = slice->stack_start + at;
	uint64_t bytes = 4096 - (address & 4095);

	(void)index;
	if (at > BPF_WALK_SLICE_BYTES - 4096)
		return 1;
	if (bytes > 4096 || bpf_probe_read_user(slice->stack + at, bytes, (void *)address) != 0)
		return 1;
	slice->stack_bytes = at + bytes;
	return 0;
}

/* What functions keep below sp, if it was ever used: OpenSSL's keep their CFA there. */
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

/* Sends the registers and the stack itself, for lack of a table. False when it is lost. */
static __always_inline bool send_slice(void *ctx, struct scratch *scratch, uint8_t kind)
{
	struct bpf_walk_slice *slice = &scratch->record.slice;
	const struct task_struct *parent;
	uint64_t size;

	slice->head.kind = kind;
	slice->head.user_count = 0;
	slice->parent = slice->head.key;
	parent = parent_of((const struct task_struct *)bpf_get_current_task_btf(), &slice->parent);
	slice->parent_pid = parent ? process_id(parent) : 0;
	slice->pc = scratch->registers.pc;
#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_REGISTERS; i++)
		slice->registers[i] = scratch->registers.values[i];
	copy_red_zone(scratch, slice);
	bpf_loop(BPF_WALK_SLICE_BYTES / 4096 + 1, copy_page, &scratch, 0);
	size = offsetof(struct bpf_walk_slice, stack) + slice->stack_bytes;
	if (size > sizeof(*slice))
		return false;
	count(BPF_WALK_COUNT_SLICES);
	return bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, slice, size) == 0;
}

/* Sends the record of a stack, of whatever kind. False when it is lost. */
static __always_inline bool output_stack(void *ctx, struct scratch *scratch, uint32_t pc_count)
{
	uint64_t size = offsetof(struct bpf_walk_stack, pcs) + pc_count * 8ull;

	return size <= sizeof(scratch->record.stack) &&
	       bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &scratch->record.stack,
				     size) == 0;
}

static __always_inline void send_stack(void *ctx, struct scratch *scratch, uint32_t pc_count)
{
	scratch->record.stack.head.kind = BPF_WALK_STACK;
	if (!output_stack(ctx, scratch, pc_count))
		count(BPF_WALK_COUNT_LOST);
}

/* Readies the walk. Returns false when its first pc cannot be looked up. */
static __always_inline bool begin_walk(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	const uint64_t *registers = scratch->registers.values;
	struct unwind_limits limits;
	struct unwind_frame frame = {
		.pc = scratch->registers.pc,
		.sp = registers[WALK_ARCH.sp_register],
		.fp = registers[WALK_ARCH.fp_register],
		.exact = true,
	};

	if (WALK_ARCH.lr_register < UNWIND_REGISTERS) {
		frame.lr = registers[WALK_ARCH.lr_register];
		frame.lr_valid = true;
	}
	limits_init(&limits, frame.sp);
	walk->end = unwind_begin(&limits, &frame);
	walk->frame = frame;
	walk->first = scratch->record.stack.head.kernel_count;
	walk->count = 1;
	walk->lacking = false;
	walk->window_start = walk->window_bytes = 0;
	if (walk->first < BPF_WALK_KERNEL_DEPTH)
		scratch->record.stack.pcs[walk->first] = frame.pc;
	return find_frame_rule(scratch, frame.pc);
}

/* The space of the nearest ancestor that is the same program and that is known. */
static __always_inline struct bpf_walk_space *find_parent_space(const struct task_struct *task,
								struct bpf_walk_key *key)
{
	struct bpf_walk_space *space = NULL;

	if (bpf_ktime_get_ns() - BPF_CORE_READ(task, group_leader, start_time) > YOUNG_NS)
		return NULL;
	for (int i = 0; i < ANCESTORS && !space; i++) {
		task = parent_of(task, key);
		if (!task)
			break;
		space = bpf_map_lookup_elem(&spaces, key);
	}
	return space;
}

/*
 * Walks the user stack of the current task behind the kernel's part. Returns false
 * when something is lacking.
 */
static __always_inline bool walk_user(const struct task_struct *task, struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;
	struct walk *walk = &scratch->walk;
	struct bpf_walk_key key = head->key;
	struct bpf_walk_space *space = bpf_map_lookup_elem(&spaces, &key);

	if (!space)
		space = find_parent_space(task, &key); /* which changes the key */
	if (!space) {
		count(BPF_WALK_COUNT_NO_SPACE);
		return false;
	}
	walk->space = *space;
	if (!begin_walk(scratch))
		walk->lacking = true;
	else if (walk->end == UNWIND_GOING)
		bpf_loop(BPF_WALK_DEPTH, walk_step, &scratch, 0);
	if (walk->lacking) {
		count(BPF_WALK_COUNT_NO_TABLE);
		return false;
	}
	head->user_count = walk->count;
	head->end = walk->end;
	return true;
}

/* Begins a record about a task. */
static __always_inline void begin_record(const struct task_struct *task, struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;

	head->kind = BPF_WALK_STACK;
	head->kernel_count = 0;
	head->user_count = 0;
	head->end = BPF_WALK_NO_USER;
	head->value = 0;
	key_of(task, &head->key);
}

static __always_inline void capture_kernel(void *ctx, struct scratch *scratch)
{
	long bytes =
		bpf_get_stack(ctx, scratch->record.stack.pcs, (BPF_WALK_KERNEL_DEPTH - 1) * 8, 0);

	scratch->record.stack.head.kernel_count = bytes > 0 ? (uint16_t)((uint64_t)bytes / 8) : 0;
}

/* The user registers of a task that is inside the kernel. False for those not to be walked. */
static __noinline bool saved_registers(struct task_struct *task, struct scratch *scratch)
{
	struct cpu_registers *saved = (struct cpu_registers *)bpf_task_pt_regs(task);
	struct cpu_registers copy;

	if (bpf_probe_read_kernel(&copy, sizeof(copy), saved) != 0)
		return false;
	registers_copy(&scratch->registers, &copy);
	if (!registers_are_foreign(&copy))
		return true;
	scratch->record.stack.head.end = BPF_WALK_FOREIGN_USER;
	return false;
}

#endif
