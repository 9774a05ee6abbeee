/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_TAKE_STACK_H
#define WICK_BPF_TAKE_STACK_H

/*
 * take_stack: the stack of the current task, the kernel's and the user's part, in the record of a
 * scratch.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/python.h"
#include "bpf/python_code.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/stack_copy.h"
#include "bpf/walk.h"
#include "wire/bpf_walk.h"

/* A child is reported once it has been seen: until then its parent's space is used. */
#define YOUNG_NS 200000000ull
/* Mappings are reported within this time, even if everybody waits for a CPU. */
#define DOUBT_NS 1000000000ull
#define ANCESTORS 3 /* one of them may be known: a shell's children have children */

static __always_inline void key_of(const struct task_struct *task, struct bpf_walk_key *key)
{
	const struct mm_struct *mm = BPF_CORE_READ(task, mm);

	key->mm = (uint64_t)mm;
	key->start_stack = mm ? BPF_CORE_READ(mm, start_stack) : 0;
	key->tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32);
	key->zero = 0;
}

/* Sends the record of a stack of any kind. False if it is lost. */
static __always_inline bool output_stack(void *ctx, struct scratch *scratch, uint32_t pc_count)
{
	struct bpf_walk_stack *stack = &scratch->record.stack;
	uint64_t size = offsetof(struct bpf_walk_stack, pcs) + pc_count * 8ull;

	send_codes(ctx, scratch);
	/* Other new ones are sent as slices. */
	if ((stack->head.key.mm == 0 || scratch->walk.borrowed) &&
	    pc_count <= BPF_WALK_KERNEL_DEPTH) {
		name_task((const struct task_struct *)bpf_get_current_task_btf(),
			  (struct bpf_walk_name *)&stack->pcs[pc_count]);
		size += sizeof(struct bpf_walk_name);
	}
	return size <= sizeof(*stack) &&
	       bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, stack, size) == 0;
}

static __always_inline void send_stack(void *ctx, struct scratch *scratch, uint32_t pc_count)
{
	scratch->record.stack.head.kind = BPF_WALK_STACK;
	if (!output_stack(ctx, scratch, pc_count))
		count(BPF_WALK_COUNT_LOST);
}

/* Prepares the walk. Returns false if its first pc cannot be looked up. */
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
	walk->lacking = walk->doubted = false;
	walk->window_start = walk->window_bytes = 0;
	if (walk->first < BPF_WALK_KERNEL_DEPTH)
		scratch->record.stack.pcs[walk->first] = frame.pc;
	return find_frame_rule(scratch, frame.pc);
}

/* The space of the nearest known ancestor that is the same program. */
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
 * Whether a stack that led to no code may have led to code that is not reported yet: the process
 * has recently gained or lost code. If it is never reported, this ends.
 */
static __always_inline bool may_be_code(const struct task_struct *task,
					struct bpf_walk_space *space)
{
	uint64_t pages = BPF_CORE_READ(task, mm, exec_vm);
	uint64_t now_ns = bpf_ktime_get_ns();

	if (space->doubt_pages != pages) {
		space->doubt_pages = pages;
		space->doubt_ns = now_ns;
	}
	return now_ns - space->doubt_ns < DOUBT_NS;
}

/* A walk has left the known code: is it garbage, or new code? */
static __always_inline void judge_end(const struct task_struct *task, struct walk *walk,
				      struct bpf_walk_space *space)
{
	bool outside = walk->lacking && walk->outside;

	if (!outside && (walk->end != UNWIND_NO_RULE || !walk->doubted))
		return;
	walk->fresh = false;
	/* With more mappings than can be reported, most addresses are in none. */
	walk->lacking = may_be_code(task, space) || space->count == BPF_WALK_MAPPINGS;
	if (outside)
		walk->end = UNWIND_BAD_ADDRESS;
}

/*
 * Walks the user stack of the current task and appends it to the kernel's part. Returns false if
 * something is missing.
 */
static __always_inline bool walk_user(const struct task_struct *task, struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;
	struct walk *walk = &scratch->walk;
	struct bpf_walk_key key = head->key;
	struct bpf_walk_space *space = bpf_map_lookup_elem(&spaces, &key);

	walk->borrowed = !space;
	if (!space)
		space = find_parent_space(task, &key); /* which changes the key */
	walk->fresh = true;
	walk->stranger = !space;
	if (!space) {
		count(BPF_WALK_COUNT_NO_SPACE);
		return false;
	}
	walk->space = *space;
	if (!begin_walk(scratch)) {
		walk->lacking = true;
	} else if (walk->end == UNWIND_GOING) {
		bpf_loop(BPF_WALK_DEPTH, walk_step, &scratch, 0);
		judge_end(task, walk, space);
	}
	if (walk->lacking) {
		count(BPF_WALK_COUNT_NO_TABLE);
		return false;
	}
	head->user_count = walk->count + append_calls(task, scratch, &key);
	head->end = walk->end;
	return true;
}

/* Begins a record about a task. */
static __always_inline void begin_record(const struct task_struct *task, struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;

	scratch->walk.borrowed = false;
	scratch->python.new_count = 0;
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

/* The user registers of a task that is inside the kernel. False if it cannot be walked. */
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
