/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/bpf_programs.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/offcpu_locks.h"
#include "engine/ebpf/offcpu_places.h"
#include "engine/ebpf/python_code.h"
#include "engine/ebpf/wakers.h"
#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/cpus.h"
#include "engine/perf/perf_sample.h"
#include "engine/python_calls.h"
#include "perf_records/perf_record.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/thread_names.h"
#include "wire/bpf_walk.h"

#define RING_MIN_BYTES (512u << 10)
#define RECORD_BYTES 300u             /* typical size of a stack that the programs walked */
#define SWITCHES_HZ 2000u             /* independent of the sampling rate */
#define SLICE_BYTES 32768u            /* typical size of a stack */
#define RING_SLICES_BYTES (16u << 20) /* for all CPUs */
#define RING_MACHINE_BYTES (32u << 20)
/* On a build machine each new program starts with slices, so this many times as much is needed. */
#define MACHINE_SLICES 4u
/*
 * How often tables that only slices need are looked for. A host starts the same few programs all
 * the time, and most others once; one program needs them once.
 */
#define SWEEP_EVERY_NS NS_PER_SEC
#define SWEEP_MACHINE_NS (20 * NS_PER_SEC)
#define RING_HEAP_BYTES (16u << 20) /* for each CPU: allocations are frequent */
#define RING_HEAP_ALL_BYTES (256u << 20)
/*
 * Stacks in new code are cut until the programs know its tables: for a heap this must happen soon.
 */
#define WAKEUP_HEAP_BYTES (128u << 10)

static struct bpf_programs *whole(struct perf_programs *base)
{
	return (struct bpf_programs *)base;
}

/*
 * A ring holds stacks that the programs walked, which are small, and, for a moment after
 * something new was mapped, slices of stacks, which are large.
 */
static size_t ring_bytes_for(const struct engine_config *config, const struct target *target)
{
	bool by_cpu = target->kind == TARGET_MACHINE || target->kind == TARGET_CGROUP;
	uint64_t rate_hz = config->mode == ENGINE_MODE_CPU || config->frequency_hz > SWITCHES_HZ
				   ? config->frequency_hz
				   : SWITCHES_HZ;
	uint64_t slice_bytes = SLICE_BYTES / 10 * (by_cpu ? MACHINE_SLICES : 1);
	uint64_t want = rate_hz * (RECORD_BYTES + slice_bytes);
	size_t most = by_cpu ? RING_MACHINE_BYTES : RING_SLICES_BYTES; /* of all CPUs */
	size_t bytes = RING_MIN_BYTES;
	struct cpu_list cpus = {0};

	if (config->heap.attach && config->heap.sample_bytes == 0) {
		want = RING_HEAP_BYTES;
		most = RING_HEAP_ALL_BYTES;
	}
	(void)cpu_list_online(&cpus); /* the perf engine reports a failure */
	most /= cpus.count > 0 ? cpus.count : 1;
	vec_fini(&cpus);
	while (bytes < want && bytes * 2 <= most)
		bytes *= 2;
	return bytes;
}

static int attach(struct perf_programs *base, int event_fd, struct error *err)
{
	return walker_attach(whole(base)->walker, event_fd, err);
}

static int set_output(struct perf_programs *base, int cpu, int event_fd, struct error *err)
{
	return walker_set_output(whole(base)->walker, cpu, event_fd, err);
}

static int arm(struct perf_programs *base, const struct perf_programs_host *host,
	       const struct engine_config *config, const struct target *target, struct error *err)
{
	struct bpf_programs *programs = whole(base);

	programs->output = host->output;
	programs->rate = host->rate;
	programs->clock = host->clock;
	programs->kernel_frames_hidden = host->kernel_frames_hidden;
	host->output->frames.interpreters = programs->interpreters;
	host->output->holders_only = config->holders_only;
	host->output->frames.sink = host->output->sink;
	host->output->frames.calls_only = programs->calls_only;
	/* Without memory, threads have the kernel's names. */
	if (programs->interpreters)
		programs->names =
			thread_names_new(host->output->tracker, programs->interpreters, false);
	walker_set_ring(programs->walker, host->ring_bytes);
	return base->away ? offcpu_watch_arm(programs, config, target, err) : 0;
}

static int start(struct perf_programs *base, uint64_t now_ns, struct error *err)
{
	return base->away ? offcpu_watch_start(whole(base), now_ns, err) : 0;
}

/* enum bpf_walk_kind; 0: none. */
static uint8_t kind_of(const struct sample_record *sample)
{
	_Static_assert(offsetof(struct bpf_walk_head, kind) == 0, "is the first byte");
	return sample->raw_bytes > 0 ? sample->raw[0] : 0;
}

/* Finds the rest of a stack that did not fit into its record. */
static void gather_long_stack(struct long_stack *stack, const struct sample_record *sample,
			      struct perf_following *following)
{
	struct sample_record more;

	if (!long_stack_begin(stack, sample))
		return;
	while (perf_following_next(following, &more) && kind_of(&more) == BPF_WALK_MORE &&
	       long_stack_add(stack, &more))
		;
}

static int take(struct perf_programs *base, struct sample_record *sample,
		struct perf_following *following, struct error *err)
{
	struct bpf_programs *programs = whole(base);
	uint8_t kind = kind_of(sample);
	int r = 0;

	if (kind == BPF_WALK_MORE)
		return 1; /* it was read together with the previous one */
	gather_long_stack(&programs->long_stack, sample, following);
	bpf_sample_name(programs, sample);
	switch (kind) {
	case BPF_WALK_AWAY:
	case BPF_WALK_AWAY_SLICE:
	case BPF_WALK_AWAY_SUMS:
	case BPF_WALK_LEAVING:
		r = bpf_sample_away(programs, sample, err);
		break;
	case BPF_WALK_WAKER:
	case BPF_WALK_WAKER_SLICE:
		waker_keep(programs, sample);
		break;
	case BPF_WALK_CODE:
		python_code_take(programs, sample);
		break;
	case BPF_WALK_HEAP:
	case BPF_WALK_HEAP_SLICE:
	case BPF_WALK_HEAP_END:
		r = bpf_heap_take(programs, sample, err);
		break;
	default:
		return 0;
	}
	return r < 0 ? r : 1;
}

static bool read_chain(struct perf_programs *base, struct tracked_process *process,
		       struct sample_record *sample)
{
	return bpf_sample_read(whole(base), process, sample);
}

static int flush(struct perf_programs *base, uint64_t until_ns, struct error *err)
{
	struct bpf_programs *programs = whole(base);

	return programs->heap.on ? bpf_heap_flush(programs, until_ns, err) : 0;
}

/* The programs have the tables that they need; those here walk the stacks of new processes. */
static void sweep_tables(struct bpf_programs *programs)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < programs->sweep_ns)
		return;
	programs->sweep_ns = now_ns + programs->sweep_every_ns;
	process_tracker_sweep(programs->output->tracker);
}

static bool drained(struct perf_programs *base)
{
	struct bpf_programs *programs = whole(base);
	bool news;

	walker_drained(programs->walker);
	news = walker_update(programs->walker, programs->output->tracker) || programs->news;
	programs->news = false;
	sweep_tables(programs);
	if (base->away)
		offcpu_watch_look(programs, clock_monotonic_ns());
	return news;
}

static int bell_fd(struct perf_programs *base)
{
	return walker_bell_fd(whole(base)->walker);
}

static bool take_bell(struct perf_programs *base)
{
	return walker_take_bell(whole(base)->walker);
}

static uint64_t count_lost_stacks(struct perf_programs *base, uint64_t lost)
{
	struct bpf_programs *programs = whole(base);
	struct walker_stats stats;
	uint64_t stacks;

	if (!base->away)
		return 0;
	walker_stats(programs->walker, &stats);
	stacks = stats.counters[BPF_WALK_COUNT_NO_STACK] - programs->lost_stacks;
	if (stacks > lost)
		stacks = lost;
	programs->lost_stacks += stacks;
	return stacks;
}

static void set_share(struct perf_programs *base, double share)
{
	walker_set_share(whole(base)->walker, share);
}

static int rate_changed(struct perf_programs *base, uint64_t now_ns, struct error *err)
{
	return base->away ? offcpu_watch_apply(whole(base), now_ns, err) : 0;
}

static void forget_stacks(struct perf_programs *base)
{
	offcpu_places_clear(whole(base)->places);
}

static void add_stats(const struct walker_stats *walker, struct engine_stats *ret)
{
	uint64_t own = walker->counters[BPF_WALK_COUNT_OWN];

	ret->memory.table_bytes = walker->bytes;
	ret->offcpu.too_short = walker->counters[BPF_WALK_COUNT_SHORT];
	ret->offcpu.unkept = walker->counters[BPF_WALK_COUNT_AWAY_FULL];
	ret->offcpu.switches = walker->counters[BPF_WALK_COUNT_LEFT];
	ret->offcpu.other_switches = walker->switches > own ? walker->switches - own : 0;
	ret->cost.switch_ns = walker->own_ns;
	ret->cost.other_switch_ns = walker->switch_ns - walker->own_ns;
}

static void add_python_stats(const struct bpf_programs *programs, const struct walker_stats *walker,
			     struct engine_stats *ret)
{
	struct engine_python_stats found;

	python_calls_stats(programs->interpreters, &found);
	found.samples = ret->python.samples;
	found.unnamed = ret->python.unnamed;
	found.others = ret->python.others;
	found.torn = walker->counters[BPF_WALK_COUNT_TORN];
	ret->python = found;
}

static void count(struct perf_programs *base, struct perf_programs_counts *ret,
		  struct engine_stats *stats)
{
	struct walker_stats walker;

	walker_stats(whole(base)->walker, &walker);
	*ret = (struct perf_programs_counts){
		.samples = walker.counters[BPF_WALK_COUNT_SAMPLES],
		.lost = walker.counters[BPF_WALK_COUNT_LOST],
		.runs = walker.runs,
		.run_ns = walker.run_ns,
		.target_run_ns = walker.counters[BPF_WALK_COUNT_RUN_NS],
	};
	if (!stats)
		return;
	add_stats(&walker, stats);
	add_python_stats(whole(base), &walker, stats);
}

static void log_stats(const struct bpf_programs *programs)
{
	struct walker_stats walker;

	walker_stats(programs->walker, &walker);
	if (walker.runs > 0)
		log_debug("eBPF: %llu runs of %llu ns, %llu slices (%llu without a known address "
			  "space, %llu without a table), %llu KiB of tables; woken %llu times by "
			  "unknown address spaces",
			  (unsigned long long)walker.runs,
			  (unsigned long long)(walker.run_ns / walker.runs),
			  (unsigned long long)walker.counters[BPF_WALK_COUNT_SLICES],
			  (unsigned long long)walker.counters[BPF_WALK_COUNT_NO_SPACE],
			  (unsigned long long)walker.counters[BPF_WALK_COUNT_NO_TABLE],
			  (unsigned long long)(walker.bytes >> 10),
			  (unsigned long long)walker.bells);
}

static void stop(struct perf_programs *base)
{
	walker_stop(whole(base)->walker);
}

static int finish(struct perf_programs *base, uint64_t now_ns, struct error *err)
{
	struct bpf_programs *programs = whole(base);

	log_stats(programs);
	return base->away ? offcpu_watch_finish(programs, now_ns, err) : 0;
}

static void close_programs(struct perf_programs *base)
{
	struct bpf_programs *programs = whole(base);

	walker_close(programs->walker);
	kept_stacks_fini(&programs->leavers);
	offcpu_places_free(programs->places);
	offcpu_locks_free(programs->locks);
	long_stack_fini(&programs->long_stack);
	wakers_free(programs->wakers);
	free(programs->cgroup);
	vec_fini(&programs->watched);
	bpf_heap_fini(&programs->heap);
	thread_names_free(programs->names);
	interpreters_free(programs->interpreters);
	free(programs);
}

const struct perf_programs_ops bpf_programs_ops = {
	.attach = attach,
	.set_output = set_output,
	.arm = arm,
	.start = start,
	.take = take,
	.read_chain = read_chain,
	.drained = drained,
	.set_share = set_share,
	.count = count,
	.close = close_programs,
	.flush = flush,
	.bell_fd = bell_fd,
	.take_bell = take_bell,
	.count_lost_stacks = count_lost_stacks,
	.rate_changed = rate_changed,
	.forget_stacks = forget_stacks,
	.stop = stop,
	.finish = finish,
};

int bpf_programs_open(const struct walker_config *walker, const struct engine_config *config,
		      const struct target *target, struct bpf_programs **ret, struct error *err)
{
	struct bpf_programs *programs = calloc(1, sizeof(*programs));
	struct walker_config with_calls = *walker;
	int r;

	if (!programs)
		return error_set(err, -ENOMEM, "out of memory");
	if (config->python != ENGINE_PYTHON_OFF)
		programs->interpreters = interpreters_new();
	programs->calls_only = config->python == ENGINE_PYTHON_ONLY;
	with_calls.interpreters = programs->interpreters;
	r = walker_open(&with_calls, &programs->walker, err);
	if (r == -EACCES || r == -EINVAL || r == -E2BIG || r == -EOPNOTSUPP) {
		/* The kernel may accept the programs without the part that reads Python calls. */
		with_calls.interpreters = NULL;
		r = programs->interpreters ? walker_open(&with_calls, &programs->walker, err) : r;
		if (r == 0)
			interpreters_refuse(programs->interpreters,
					    "this kernel rejects the program that reads them");
	}
	if (r < 0) {
		interpreters_free(programs->interpreters);
		free(programs);
		return r;
	}
	programs->base = (struct perf_programs){
		.ops = &bpf_programs_ops,
		.away = walker->away,
		.ring_bytes = ring_bytes_for(config, target),
		.wakeup_bytes = config->heap.attach ? WAKEUP_HEAP_BYTES : 0,
	};
	programs->depth = config->depth;
	programs->sweep_every_ns = walker->machine ? SWEEP_MACHINE_NS : SWEEP_EVERY_NS;
	programs->least_away_ns = config->least_away_ns;
	programs->heap.on = config->heap.attach;
	programs->heap.sample_bytes = config->heap.sample_bytes;
	*ret = programs;
	return 0;
}
