/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waker: who wakes a thread that is off its CPU. The waker's stack is sent at once, before the
 * record of the woken thread; the reader joins the two.
 */

#include "bpf/interrupt.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/take_stack.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

static __always_inline bool is_asleep(const struct bpf_walk_away *place, uint64_t now_ns)
{
	return place->times.left_ns != 0 && place->times.woken_ns == 0 && place->taken &&
	       place->times.state != BPF_WALK_PREEMPTED &&
	       now_ns - place->times.left_ns >= least_away_ns;
}

/* Takes and sends the stack of the current task, which wakes another. */
static __always_inline void take_waker(uint64_t *ctx, const struct bpf_walk_away *place)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	uint64_t context = waker_context(task);
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&switch_scratch, &cpu);
	struct bpf_walk_head *head;

	if (!scratch)
		return;
	head = &scratch->record.stack.head;
	begin_record(task, scratch);
	head->value = BPF_WALK_WAKER_VALUE(place->times.tid, context);
	/* Only the kernel's part shows what an interrupt is for. */
	if (with_kernel || context != BPF_WALK_BY_TASK)
		capture_kernel(ctx, scratch);
	if (context != BPF_WALK_BY_INTERRUPT && head->key.mm != 0 &&
	    saved_registers(task, scratch) && !walk_user(task, scratch)) {
		if (!send_slice(ctx, scratch, BPF_WALK_WAKER_SLICE))
			count(BPF_WALK_COUNT_NO_STACK);
		return;
	}
	head->kind = BPF_WALK_WAKER;
	if (!output_stack(ctx, scratch, head->kernel_count + head->user_count))
		count(BPF_WALK_COUNT_NO_STACK);
}

/*
 * The current task wakes another. This event comes on the waker's own CPU; sched_wakeup may come on
 * that of the other. Interrupts are off, so the scratch is not in use.
 */
SEC("tp_btf/sched_waking")
int waking(uint64_t *ctx)
{
	uint32_t tid = (uint32_t)BPF_CORE_READ((const struct task_struct *)ctx[0], pid);
	struct bpf_walk_away *place = bpf_map_lookup_elem(&away, &tid);
	uint64_t now_ns;

	if (!place)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (!is_asleep(place, now_ns))
		return 0;
	take_waker(ctx, place);
	count_more(BPF_WALK_COUNT_OWN_NS, bpf_ktime_get_ns() - now_ns);
	return 0;
}
