/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * wick: the programs that run in the kernel. They hold no policy: whom to sample
 * is what events they are attached to, and all settings are set before loading.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/registers.h"
#include "bpf/settings.h"
#include "bpf/walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What a perf event hands to its program. */
struct sample_context {
	struct cpu_registers registers;
	uint64_t period;
	uint64_t address;
};

/* One for each CPU; the kernel's own kind of such arrays has smaller elements. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} sample_scratch SEC(".maps");

static __always_inline void key_of(const struct task_struct *task, struct bpf_walk_key *key)
{
	const struct mm_struct *mm = BPF_CORE_READ(task, mm);

	key->mm = (uint64_t)mm;
	key->start_stack = mm ? BPF_CORE_READ(mm, start_stack) : 0;
	key->tgid = (uint32_t)(bpf_get_current_pid_tgid() >> 32);
	key->zero = 0;
}

/* Copies what can be read of the stack, page by page. */
static long copy_page(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	struct bpf_walk_slice *slice = &scratch->record.slice;
	uint64_t at = slice->stack_bytes;
	uint64_t address = scratch->registers.values[WALK_ARCH.sp_register] + at;
	uint64_t bytes = 4096 - (address & 4095);

	(void)index;
	if (at > BPF_WALK_SLICE_BYTES - 4096)
		return 1;
	if (bytes > 4096 || bpf_probe_read_user(slice->stack + at, bytes, (void *)address) != 0)
		return 1;
	slice->stack_bytes = at + bytes;
	return 0;
}

/* Sends the registers and the stack itself, for lack of a table. */
static __always_inline void send_slice(void *ctx, struct scratch *scratch)
{
	struct bpf_walk_slice *slice = &scratch->record.slice;
	uint64_t size;

	slice->head.kind = BPF_WALK_SLICE;
	slice->head.user_count = 0;
	slice->pc = scratch->registers.pc;
#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_REGISTERS; i++)
		slice->registers[i] = scratch->registers.values[i];
	slice->stack_bytes = 0;
	bpf_loop(BPF_WALK_SLICE_BYTES / 4096 + 1, copy_page, &scratch, 0);
	size = offsetof(struct bpf_walk_slice, stack) + slice->stack_bytes;
	if (size > sizeof(*slice))
		return;
	count(BPF_WALK_COUNT_SLICES);
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, slice, size) < 0)
		count(BPF_WALK_COUNT_LOST);
}

static __always_inline void send_stack(void *ctx, struct scratch *scratch, uint32_t pc_count)
{
	uint64_t size = offsetof(struct bpf_walk_stack, pcs) + pc_count * 8ull;

	scratch->record.stack.head.kind = BPF_WALK_STACK;
	if (size > sizeof(scratch->record.stack))
		return;
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &scratch->record.stack, size) <
	    0)
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

/* Walks the user stack of the current task behind the kernel's part. */
static __always_inline void walk_user(void *ctx, struct scratch *scratch)
{
	struct bpf_walk_head *head = &scratch->record.stack.head;
	struct walk *walk = &scratch->walk;
	struct bpf_walk_key key = head->key;
	struct bpf_walk_space *space = bpf_map_lookup_elem(&spaces, &key);

	if (!space) {
		count(BPF_WALK_COUNT_NO_SPACE);
		send_slice(ctx, scratch);
		return;
	}
	walk->space = *space;
	if (!begin_walk(scratch))
		walk->lacking = true;
	else if (walk->end == UNWIND_GOING)
		bpf_loop(BPF_WALK_DEPTH, walk_step, &scratch, 0);
	if (walk->lacking) {
		count(BPF_WALK_COUNT_NO_TABLE);
		send_slice(ctx, scratch);
		return;
	}
	head->user_count = walk->count;
	head->end = walk->end;
	send_stack(ctx, scratch, walk->first + walk->count);
}

SEC("perf_event")
int sample(struct sample_context *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&sample_scratch, &cpu);
	struct bpf_walk_head *head;
	bool user;
	bool foreign = false;

	if (!scratch)
		return 0;
	count(BPF_WALK_COUNT_SAMPLES);
	head = &scratch->record.stack.head;
	head->kernel_count = 0;
	head->user_count = 0;
	head->end = BPF_WALK_NO_USER;
	head->value = ctx->period;
	key_of(task, &head->key);
	user = registers_are_user(&ctx->registers);
	if (!user && with_kernel) {
		long bytes = bpf_get_stack(ctx, scratch->record.stack.pcs,
					   (BPF_WALK_KERNEL_DEPTH - 1) * 8, 0);

		head->kernel_count = bytes > 0 ? (uint16_t)((uint64_t)bytes / 8) : 0;
	}
	if (head->key.mm == 0) {
		send_stack(ctx, scratch, head->kernel_count);
		return 0;
	}
	if (user) {
		foreign = registers_are_foreign(&ctx->registers);
		registers_copy(&scratch->registers, &ctx->registers);
	} else {
		struct cpu_registers *saved = (struct cpu_registers *)bpf_task_pt_regs(task);
		struct cpu_registers copy;

		if (bpf_probe_read_kernel(&copy, sizeof(copy), saved) != 0)
			return 0;
		foreign = registers_are_foreign(&copy);
		registers_copy(&scratch->registers, &copy);
	}
	if (foreign) {
		head->end = BPF_WALK_FOREIGN_USER;
		send_stack(ctx, scratch, head->kernel_count);
		return 0;
	}
	walk_user(ctx, scratch);
	return 0;
}
