/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/wakers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/kept_stacks.h"
#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/perf_sample.h"
#include "model/profile.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/process_tracker.h"
#include "wire/bpf_walk.h"

/*
 * The most threads that were woken but are not back on a CPU yet; if there are more, records were
 * lost.
 */
#define KEPT_MAX 8192u

/*
 * Functions that interrupts run, the name to show, and the kind of interrupt if the kernel does not
 * report it. The entry points of x86-64 come last, because a function with a more specific name
 * runs above most of them.
 */
static const struct {
	const char *function;
	const char *name;
	enum bpf_walk_waker context;
} sources[] = {
	{"hrtimer_interrupt", "[timer]", BPF_WALK_BY_INTERRUPT},
	{"hrtimer_run_softirq", "[timer]", BPF_WALK_BY_SOFTIRQ},
	{"run_timer_softirq", "[timer]", BPF_WALK_BY_SOFTIRQ},
	{"handle_softirqs", "[interrupt]", BPF_WALK_BY_SOFTIRQ},
	{"__do_softirq", "[interrupt]", BPF_WALK_BY_SOFTIRQ},
	{"generic_handle_domain_irq", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"__common_interrupt", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"generic_smp_call_function_single_interrupt", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_common_interrupt", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_apic_timer_interrupt", "[timer]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_reschedule_ipi", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_call_function", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_call_function_single", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_irq_work", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_kvm_asyncpf_interrupt", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_hyperv_callback", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_hyperv_stimer0", "[timer]", BPF_WALK_BY_INTERRUPT},
	{"asm_sysvec_xen_hvm_callback", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"asm_exc_nmi", "[interrupt]", BPF_WALK_BY_INTERRUPT},
	{"fred_extint", "[interrupt]", BPF_WALK_BY_INTERRUPT},
};

/* The address range of a kernel function; empty if it does not exist. */
struct function {
	uint64_t start;
	uint64_t bytes;
};

struct wakers {
	struct kept_stacks stacks; /* by the woken thread */
	VEC(struct frame) joint;   /* scratch */
	struct function sources[ARRAY_SIZE(sources)];
	struct function local; /* which runs work that the task itself caused */
};

static struct function find_function(const struct engine_config *config, const char *name)
{
	struct function found = {0};

	if (config->kernel_address)
		found.start = config->kernel_address(config->kernel_self, name, &found.bytes);
	return found;
}

struct wakers *wakers_new(const struct engine_config *config)
{
	struct wakers *wakers = calloc(1, sizeof(*wakers));

	if (!wakers)
		return NULL;
	wakers->stacks.limit = KEPT_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		wakers->sources[i] = find_function(config, sources[i].function);
	wakers->local = find_function(config, "__local_bh_enable_ip");
	return wakers;
}

void wakers_free(struct wakers *wakers)
{
	if (!wakers)
		return;
	kept_stacks_fini(&wakers->stacks);
	vec_fini(&wakers->joint);
	free(wakers);
}

static uint64_t pc_at(const struct sample_record *sample, size_t i)
{
	uint64_t pc;

	memcpy(&pc, sample->raw + sizeof(struct bpf_walk_head) + i * sizeof(pc), sizeof(pc));
	return pc;
}

static bool is_in(uint64_t pc, struct function function)
{
	return function.start != 0 && pc - function.start < function.bytes;
}

/* Whether the task itself caused the work that runs in between: it sends to this machine. */
static bool is_local(const struct wakers *wakers, const struct sample_record *sample,
		     const struct bpf_walk_head *head)
{
	for (size_t i = 0; i < head->kernel_count; i++)
		if (is_in(pc_at(sample, i), wakers->local))
			return true;
	return false;
}

/* The first interrupt function, starting at the leaf: its index and that of its frame, or false. */
static bool find_source(const struct wakers *wakers, const struct sample_record *sample,
			const struct bpf_walk_head *head, size_t *ret_source, uint16_t *ret_frame)
{
	for (uint16_t i = 0; i < head->kernel_count; i++)
		for (size_t s = 0; s < ARRAY_SIZE(sources); s++)
			if (is_in(pc_at(sample, i), wakers->sources[s])) {
				*ret_source = s;
				*ret_frame = i;
				return true;
			}
	return false;
}

/* What woke the thread: as the kernel says, or as the kernel's part of the stack shows. */
static uint64_t context_of(const struct wakers *wakers, const struct sample_record *sample,
			   const struct bpf_walk_head *head)
{
	uint64_t context = head->value >> 32;
	size_t source;
	uint16_t frame;

	if (context != BPF_WALK_BY_UNKNOWN)
		return context;
	return find_source(wakers, sample, head, &source, &frame) ? sources[source].context
								  : BPF_WALK_BY_TASK;
}

/*
 * Names the interrupt. The frames below it belong to the interrupted code, so the kernel's part is
 * cut there.
 */
static const char *name_interrupt(const struct wakers *wakers, const struct sample_record *sample,
				  struct bpf_walk_head *head)
{
	size_t source;
	uint16_t frame;

	if (!find_source(wakers, sample, head, &source, &frame))
		return "[interrupt]";
	head->kernel_count = (uint16_t)(frame + 1);
	return sources[source].name;
}

static bool put_place(struct bpf_programs *programs, struct wakers *wakers, const char *name)
{
	struct place place = {.name = name,
			      .file = "",
			      .module = MODULE_NONE,
			      .origin = ORIGIN_PROGRAM,
			      .outer = PLACE_NONE};
	struct frame frame = {.kind = FRAME_CUSTOM};

	return sink_place(programs->output->sink, &place, &frame.a) == 0 &&
	       vec_push(&wakers->joint, frame) == 0;
}

/*
 * The process of a waker. If it is not watched, its exec is not reported; a slice from a new
 * address space reveals it.
 */
static int find_process(struct bpf_programs *programs, const struct sample_record *sample,
			const struct bpf_walk_head *head, struct tracked_process **ret)
{
	uint32_t thread;
	int r = process_tracker_sample(programs->output->tracker, sample->pid, sample->tid, ret,
				       &thread);

	if (r < 0 || head->kind != BPF_WALK_WAKER_SLICE ||
	    !walker_has_other(programs->walker, &head->key, *ret) ||
	    process_tracker_seed(programs->output->tracker, sample->pid, NULL) < 0)
		return r;
	return process_tracker_sample(programs->output->tracker, sample->pid, sample->tid, ret,
				      &thread);
}

/* Creates the frames of a waker in the scratch buffer. False if that is not possible. */
static bool make_frames(struct bpf_programs *programs, struct sample_record *sample,
			const struct bpf_walk_head *head, const char *interrupt)
{
	struct wakers *wakers = programs->wakers;
	struct tracked_process *process;
	char name[64];
	size_t count;
	const struct frame *frames;

	/* An interrupt belongs to no process: the process without a pid represents it. */
	if (interrupt)
		sample->pid = sample->tid = 0;
	if (find_process(programs, sample, head, &process) < 0 ||
	    !bpf_sample_read_head(programs, process, head, sample))
		return false;
	(void)snprintf(name, sizeof(name), "%s/%d",
		       process_tracker_thread_name(programs->output->tracker, sample->tid),
		       (int)sample->tid); /* a truncated name is fine */
	wakers->joint.count = 0;
	if (!put_place(programs, wakers, "[woken by]") ||
	    !put_place(programs, wakers, interrupt ? interrupt : name))
		return false;
	frames = perf_frames_of(programs->output, process, sample, &count);
	for (size_t i = 0; i < count; i++)
		if (vec_push(&wakers->joint, frames[i]) < 0)
			return false;
	return true;
}

void waker_keep(struct bpf_programs *programs, struct sample_record *sample)
{
	struct wakers *wakers = programs->wakers;
	const char *interrupt = NULL;
	struct bpf_walk_head head;
	uint64_t context;

	if (!wakers || sample->raw_bytes < sizeof(head))
		return;
	memcpy(&head, sample->raw, sizeof(head));
	if (head.kernel_count > (sample->raw_bytes - sizeof(head)) / sizeof(uint64_t))
		return;
	context = context_of(wakers, sample, &head);
	if (context == BPF_WALK_BY_INTERRUPT ||
	    (context == BPF_WALK_BY_SOFTIRQ && !is_local(wakers, sample, &head))) {
		interrupt = name_interrupt(wakers, sample, &head);
	} else if (sample->pid <= 0) {
		interrupt = "[unknown]"; /* outside this container, or exiting */
	}
	if (interrupt) {
		head.kind = BPF_WALK_WAKER; /* its user stack must not be walked */
		head.user_count = 0;
		head.end = BPF_WALK_NO_USER;
	}
	if (make_frames(programs, sample, &head, interrupt))
		(void)kept_stacks_put(&wakers->stacks, (uint32_t)head.value, wakers->joint.items,
				      wakers->joint.count); /* else the waker is not shown */
}

uint32_t waker_join(struct bpf_programs *programs, uint32_t tid, const struct frame *frames,
		    size_t count)
{
	struct wakers *wakers = programs->wakers;
	struct kept_stack waker;
	uint32_t id = ID_NONE;

	if (!wakers || !kept_stacks_take(&wakers->stacks, tid, &waker))
		return ID_NONE;
	if (vec_reserve(&wakers->joint, count + waker.count) == 0) {
		memcpy(wakers->joint.items, frames, count * sizeof(*frames));
		memcpy(wakers->joint.items + count, waker.frames,
		       waker.count * sizeof(*waker.frames));
		if (sink_stack(programs->output->sink, wakers->joint.items, count + waker.count,
			       &id) < 0)
			id = ID_NONE;
	}
	free(waker.frames);
	return id;
}
