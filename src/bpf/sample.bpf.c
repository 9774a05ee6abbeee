/* SPDX-License-Identifier: BSD-2-Clause */

/* sample: the program of perf events that takes a stack on the CPU. */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/take_stack.h"

/* What a perf event passes to its program. */
struct sample_context {
	struct cpu_registers registers;
	uint64_t period;
	uint64_t address;
};

/* One for each CPU; the kernel's per-CPU arrays only have smaller elements. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} sample_scratch SEC(".maps");

/* Whether this sample is to be left out; these are spread evenly over the others. */
static __always_inline bool is_left_out(struct scratch *scratch)
{
	uint32_t share = left_out;

	if (share == 0)
		return false;
	scratch->left_over += share;
	if (scratch->left_over < BPF_WALK_ALL)
		return false;
	scratch->left_over -= BPF_WALK_ALL;
	return true;
}

/*
 * A perf event has fired. Returns 0: the kernel need not write a sample of its own; or 1 if that
 * has something which no program can read.
 */
SEC("perf_event")
int sample(struct sample_context *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&sample_scratch, &cpu);
	struct bpf_walk_head *head;
	bool walkable;

	if (!scratch || is_left_out(scratch))
		return 0;
	count(BPF_WALK_COUNT_SAMPLES);
	head = &scratch->record.stack.head;
	begin_record(task, scratch);
	head->value = ctx->period;
	if (registers_are_user(&ctx->registers)) {
		walkable = !registers_are_foreign(&ctx->registers);
		registers_copy(&scratch->registers, &ctx->registers);
		if (!walkable)
			head->end = BPF_WALK_FOREIGN_USER;
	} else {
		if (with_kernel)
			capture_kernel(ctx, scratch);
		walkable = head->key.mm != 0 && saved_registers(task, scratch);
	}
	if (!walkable || walk_user(task, scratch))
		send_stack(ctx, scratch, head->kernel_count + head->user_count);
	else if (!send_slice(ctx, scratch, BPF_WALK_SLICE))
		count(BPF_WALK_COUNT_LOST);
	return with_counters;
}
