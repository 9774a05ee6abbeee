/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/perf/call_readers.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/perf_probe.h"
#include "engine/perf/perf_programs.h"
#include "engine/perf/perf_rate.h"
#include "engine/perf/sample_calls.h"
#include "engine/perf/sample_cost.h"
#include "model/sink.h"
#include "process_stacks/stack_cache.h"
#include "unwind/frame.h"

/*
 * When to check again after something new was mapped; on a whole machine that happens all the time.
 */
#define NEWS_NS (5 * NS_PER_MS)
#define NEWS_MACHINE_NS (50 * NS_PER_MS)

/* The rings of a machine are read at least this often while only the bell wakes us. */
#define DRAIN_NS (50 * NS_PER_MS)

/* The cost is not measured before this; short recordings measure it at the end. */
#define COST_AFTER_NS (200 * NS_PER_MS)

/* The busy time of the machine from which ticks of 10 ms are accurate enough. */
#define MACHINE_LEAST_NS (5 * NS_PER_SEC)

static int perf_engine_open(const struct engine_config *config, const struct target *target,
			    struct sink *sink, void **ret_self, struct error *err)
{
	struct perf_engine *engine;
	int r;

	if (config->mode != ENGINE_MODE_CPU) {
		(void)error_set(err, -EINVAL, "the perf engine records only CPU time");
		error_remedy(err, "leave out --mode, or use --engine ebpf as root");
		return -EINVAL;
	}
	r = perf_open(config, target, sink, NULL, &engine, err);
	if (r == 0)
		*ret_self = engine;
	return r;
}

void perf_engine_close(void *self)
{
	perf_close(self);
}

static int each_event(struct perf_engine *engine, unsigned long request, struct error *err)
{
	size_t i;

	for (i = 0; i < engine->events.count; i++)
		if (ioctl(engine->events.items[i], request, 0) < 0)
			return error_errno(err, -errno, "cannot enable or disable a perf event");
	for (i = 0; i < engine->sides.count; i++)
		if (ioctl(engine->sides.items[i], request, 0) < 0)
			return error_errno(err, -errno, "cannot enable or disable a perf event");
	return 0;
}

int perf_engine_start(void *self, struct error *err)
{
	struct perf_engine *engine = self;
	uint64_t now_ns = clock_monotonic_ns();
	int r = each_event(engine, PERF_EVENT_IOC_ENABLE, err);

	engine->news = true;
	if (r == 0)
		r = perf_seed(engine, err);
	return r == 0 && engine->programs ? perf_programs_start(engine->programs, now_ns, err) : r;
}

int perf_engine_fd(void *self)
{
	const struct perf_engine *engine = self;

	return engine->epoll_fd;
}

/* Consumes wake-ups; they are edge-triggered, so this resets them. */
static void clear_wakeups(struct perf_engine *engine)
{
	struct epoll_event events[16];

	while (epoll_wait(engine->epoll_fd, events, 16, 0) == 16)
		;
}

/* How long the record of what rang the bell is too new to be read; 0: none did. */
static uint64_t heed_bell(struct perf_engine *engine)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns >= engine->bell_due_ns)
		engine->bell_due_ns = 0;
	if (perf_programs_take_bell(engine->programs) && engine->bell_due_ns == 0)
		engine->bell_due_ns = now_ns + PERF_SETTLE_NS + NS_PER_MS / 10;
	return engine->bell_due_ns > now_ns ? engine->bell_due_ns - now_ns : 0;
}

static void set_timer(const struct perf_engine *engine, uint64_t wait_ns)
{
	struct itimerspec times = {.it_value.tv_nsec = (long)wait_ns};

	(void)timerfd_settime(engine->timer_fd, 0, &times, NULL); /* cannot fail */
}

/*
 * Whether the bell alone woke us: what rang it cannot be read yet, and the timer wakes us when it
 * can. On a machine where programs start all the time, half of all wake-ups are such.
 */
static bool is_too_early(struct perf_engine *engine)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool was_due = engine->bell_due_ns > 0;
	uint64_t wait_ns;

	if (!engine->programs || !engine->machine || now_ns - engine->drained_ns > DRAIN_NS ||
	    (was_due && now_ns >= engine->bell_due_ns))
		return false;
	wait_ns = heed_bell(engine);
	if (wait_ns > 0 && !was_due)
		set_timer(engine, wait_ns);
	return wait_ns > 0;
}

/* Updates the programs, and does so again soon if more is expected. */
static void update_programs(struct perf_engine *engine)
{
	uint64_t soon_ns = engine->machine ? NEWS_MACHINE_NS : NEWS_NS;
	uint64_t bell_ns = heed_bell(engine);
	uint64_t wait_ns = 0;
	uint64_t ticks;

	(void)!read(engine->timer_fd, &ticks, sizeof(ticks)); /* may be empty */
	/* Until the first sample, the program is about to start. */
	if (perf_programs_drained(engine->programs) || engine->news ||
	    (engine->command && engine->output.stats.samples.count == 0))
		wait_ns = soon_ns;
	if (bell_ns > 0)
		wait_ns = bell_ns;
	engine->news = false;
	set_timer(engine, wait_ns);
}

/* Lets the sink free memory: it has all samples, and none of them waits for a stack. */
static int trim(struct perf_engine *engine, struct error *err)
{
	int r = sink_trim(engine->output.sink, err);

	if (r <= 0)
		return r;
	stack_cache_clear(engine->output.cache);
	if (engine->programs)
		perf_programs_forget_stacks(engine->programs);
	for (size_t i = 0; i < engine->rings.count; i++)
		engine->rings.items[i].row_tid = 0;
	return 0;
}

/* A process has an interpreter: from now on its calls are read after each sample. */
static void begin_reading(struct perf_engine *engine)
{
	struct error err = {0};

	engine->readers = call_readers_open(engine);
	if (perf_quicken(engine, &err) < 0)
		log_debug("calls are read late: %s", err.text);
}

int perf_engine_drain(void *self, struct error *err)
{
	struct perf_engine *engine = self;
	int r;

	clear_wakeups(engine);
	if (is_too_early(engine))
		return 0;
	engine->drained_ns = clock_monotonic_ns();
	r = perf_drain(engine, engine->drained_ns - PERF_SETTLE_NS, err);
	if (engine->programs)
		update_programs(engine);
	if (engine->calls && !engine->readers && sample_calls_wanted(engine->calls))
		begin_reading(engine);
	return r < 0 ? r : trim(engine, err);
}

uint64_t perf_count_events_ns(struct perf_engine *engine, size_t events)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < events; i++) {
		/* A group starts with the number of its events, followed by the leader's count. */
		uint64_t values[2 + EVENT_MEMBERS_MAX];
		size_t at = engine->grouped;

		if (read(engine->events.items[i], values, sizeof(values)) >=
		    (ssize_t)((at + 1) * sizeof(*values)))
			sum += values[at];
	}
	return sum;
}

/* How long the watched threads ran, as counted by the events themselves. */
uint64_t perf_count_run_ns(struct perf_engine *engine)
{
	struct machine_time now;

	if (!engine->machine)
		return engine->rate.closed_ns + perf_count_events_ns(engine, engine->events.count);
	machine_time_read(&now);
	return now.busy_ns > engine->machine_start.busy_ns
		       ? now.busy_ns - engine->machine_start.busy_ns
		       : 0;
}

/* The kernel reports losses with the next record that fits, so the last ones are never reported. */
static int count_late_losses(struct perf_engine *engine, int r)
{
	struct perf_programs_counts counts;
	uint64_t late;

	if (r < 0 || !engine->programs || engine->overwrite_old)
		return r;
	perf_programs_count(engine->programs, &counts, NULL);
	if (counts.lost <= engine->output.stats.samples.lost)
		return r;
	late = counts.lost - engine->output.stats.samples.lost;
	engine->output.stats.samples.lost += late;
	return sink_loss(engine->output.sink, LOSS_RING_FULL, clock_monotonic_ns(), late);
}

int perf_engine_stop(void *self, struct error *err)
{
	struct perf_engine *engine = self;
	int r = each_event(engine, PERF_EVENT_IOC_DISABLE, err);
	uint64_t now_ns = clock_monotonic_ns();
	int drained;

	/* Closing takes a while on a busy machine; what threads do meanwhile is not recorded. */
	if (engine->programs) {
		perf_rate_end(&engine->rate, now_ns);
		perf_programs_stop(engine->programs);
	}
	drained = count_late_losses(engine, perf_drain(engine, UINT64_MAX, err));
	/* Their stacks may be among what was just drained. */
	if (engine->programs && r == 0 && drained == 0)
		r = perf_programs_finish(engine->programs, now_ns, err);
	if (engine->clock) {
		perf_rate_account(&engine->rate, true, perf_count_run_ns(engine));
		engine->output.stats.run_ns = engine->rate.run_ns + engine->throttled_ns;
	}
	return r < 0 ? r : drained;
}

/*
 * What the event of a sample costs. It is measured once there are enough samples, and again at the
 * end if that failed: there may have been no memory for another buffer.
 */
static uint64_t sample_cost_ns(struct perf_engine *engine, bool final)
{
	uint64_t on_cpu = engine->output.stats.samples.count - engine->output.stats.offcpu.samples;

	if (engine->sample_cost_ns > 0 || on_cpu == 0 ||
	    (!final && clock_monotonic_ns() - engine->begun_ns < COST_AFTER_NS))
		return engine->sample_cost_ns;
	engine->sample_cost_ns =
		perf_sample_cost_ns(&engine->grant.attr, engine->copied_bytes / on_cpu);
	if (!final)
		engine->begun_ns = clock_monotonic_ns(); /* not every time, if it keeps failing */
	return engine->sample_cost_ns;
}

/*
 * What the programs have cost, and the ticks at which they ran, including those without a sample.
 */
static uint64_t programs_cost_ns(const struct perf_engine *engine,
				 const struct perf_programs_counts *counts)
{
	return counts->run_ns > 0 ? counts->run_ns + counts->runs * engine->sample_cost_ns : 0;
}

void perf_engine_stats(void *self, bool final, struct engine_stats *ret)
{
	struct perf_engine *engine = self;
	struct perf_programs_counts counts = {0};
	uint64_t on_cpu;

	*ret = engine->output.stats;
	sample_calls_stats(engine->calls, &ret->python);
	ret->memory.ring_fill = engine->ring_fill;
	/*
	 * Without the kernel's share of the time, the expected number is unknown; and for short
	 * times the ticks of the machine's clock are too coarse.
	 */
	if (engine->clock && !engine->away && engine->grant.kernel &&
	    (!engine->machine || engine->output.stats.run_ns > MACHINE_LEAST_NS))
		ret->samples.expected = engine->rate.expected;
	ret->stacks.unique = stack_cache_added(engine->output.cache);
	/* The part beyond a copy comes from the kernel's walk, which has the kernel's limit. */
	ret->granted.depth_limit =
		engine->copies && engine->output.stats.stacks.ends[UNWIND_DEPTH - UNWIND_ROOT] == 0
			? engine->depth
			: engine->grant.depth;
	ret->stacks.by_tables = engine->copies || engine->programs;
	ret->stacks.by_fp = !ret->stacks.by_tables;
	ret->granted.kernel = engine->grant.kernel;
	ret->offcpu.on = engine->away;
	ret->memory.ring_bytes = engine->ring_bytes;
	ret->memory.buffer_bytes = engine->ring_bytes * engine->rings.count;
	if (engine->programs) {
		perf_programs_count(engine->programs, &counts, ret);
		ret->granted.depth_limit = engine->depth;
		if (!engine->clock)
			ret->run_ns = counts.target_run_ns;
	}
	if (final)
		perf_release(engine); /* its buffers use memory that measuring needs */
	on_cpu = engine->output.stats.samples.count - engine->output.stats.offcpu.samples;
	ret->cost.target_ns =
		sample_cost_ns(engine, final) * on_cpu + sample_calls_cost_ns(engine->calls);
	if (engine->programs)
		ret->cost.target_ns = programs_cost_ns(engine, &counts);
	ret->cost.sample_ns = on_cpu ? ret->cost.target_ns / on_cpu : 0;
}

const char *perf_engine_notice(void *self)
{
	const struct perf_engine *engine = self;

	return engine->notice;
}

const struct engine_ops perf_engine_ops = {
	.name = "perf",
	.summary = "perf events: timers, hardware events and tracepoints (-e)",
	.reads_calls = true,
	.probe = perf_probe_own,
	.open = perf_engine_open,
	.start = perf_engine_start,
	.fd = perf_engine_fd,
	.drain = perf_engine_drain,
	.stop = perf_engine_stop,
	.stats = perf_engine_stats,
	.notice = perf_engine_notice,
	.set_rate = perf_engine_set_rate,
	.close = perf_engine_close,
};
