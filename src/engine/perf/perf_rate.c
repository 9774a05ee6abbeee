/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_rate.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/perf/perf.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/perf_programs.h"
#include "proc/process_info.h"
#include "process_stacks/process_tracker.h"

/*
 * A number of events or nanoseconds that is never reached; and the value for a rate of none per
 * second.
 */
#define NEVER (1ull << 42)
#define LEAST_HZ 1u

/* What one sample represents at a rate, for a clock or an event with a period. */
static uint64_t period_at(const struct perf_rate *rate, uint32_t hz)
{
	uint64_t period;

	if (hz == 0)
		return NEVER;
	period = (uint64_t)((double)rate->period * rate->asked_hz / hz + 0.5);
	return period > 0 ? period : 1;
}

int perf_rate_begin(struct perf_engine *engine, bool paused)
{
	struct perf_rate *rate = &engine->rate;
	struct perf_event_attr *attr = &engine->grant.attr;

	rate->asked_hz = engine->output.stats.granted.frequency_hz
				 ? engine->output.stats.granted.frequency_hz
				 : 1;
	rate->hz = rate->hz_before = rate->event_hz = rate->asked_hz;
	rate->period = attr->freq ? 0 : attr->sample_period;
	if (!paused)
		return 0;
	rate->hz = 0;
	if (engine->programs)
		perf_programs_set_share(engine->programs, 0);
	else
		attr->sample_period = attr->freq ? LEAST_HZ : NEVER;
	return vec_push(&rate->pauses, (struct perf_pause){0, UINT64_MAX});
}

void perf_rate_fini(struct perf_rate *rate)
{
	for (size_t i = 0; i < rate->owners.count; i++)
		(void)close(rate->owners.items[i]);
	vec_fini(&rate->owners);
	vec_fini(&rate->pauses);
}

uint64_t perf_rate_weight(const struct perf_engine *engine, const struct sample_record *sample)
{
	const struct perf_rate *rate = &engine->rate;
	uint32_t hz = sample->time_ns < rate->changed_ns ? rate->hz_before : rate->hz;

	if (hz == 0)
		return 0;
	if (engine->clock)
		return period_at(rate, hz);
	/* The kernel reports its own period, and does not know which samples programs leave out. */
	return engine->programs ? (uint64_t)((double)sample->period * rate->event_hz / hz + 0.5)
				: sample->period;
}

void perf_rate_end(struct perf_rate *rate, uint64_t now_ns)
{
	const struct perf_pause *last =
		rate->pauses.count > 0 ? &rate->pauses.items[rate->pauses.count - 1] : NULL;

	if (!last || last->to_ns <= now_ns) /* else it is in a pause already */
		/* Without memory, the pause is not counted. */
		(void)vec_push(&rate->pauses, (struct perf_pause){now_ns, UINT64_MAX});
}

uint64_t perf_rate_active_ns(const struct perf_rate *rate, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t active_ns = to_ns - from_ns;

	for (size_t i = 0; i < rate->pauses.count; i++) {
		const struct perf_pause *pause = &rate->pauses.items[i];
		uint64_t begin_ns = pause->from_ns > from_ns ? pause->from_ns : from_ns;
		uint64_t end_ns = pause->to_ns < to_ns ? pause->to_ns : to_ns;

		active_ns -= end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return active_ns;
}

void perf_rate_account(struct perf_rate *rate, bool clock, uint64_t run_ns)
{
	uint64_t ran_ns = run_ns > rate->mark_run_ns ? run_ns - rate->mark_run_ns : 0;

	rate->mark_run_ns = run_ns;
	if (rate->hz == 0)
		return;
	rate->run_ns += ran_ns;
	if (clock)
		rate->expected += ran_ns / period_at(rate, rate->hz);
}

static void set_attr(struct perf_engine *engine, uint32_t hz)
{
	struct perf_event_attr *attr = &engine->grant.attr;

	if (attr->freq)
		attr->sample_freq = hz > 0 ? hz : LEAST_HZ;
	else
		attr->sample_period = period_at(&engine->rate, hz);
}

/* Gives the first events another period. Returns how many got it. */
static size_t set_periods(struct perf_engine *engine, size_t count, uint64_t value)
{
	size_t done = 0;

	while (done < count &&
	       ioctl(engine->events.items[done], PERF_EVENT_IOC_PERIOD, &value) == 0)
		done++;
	return done;
}

/* Changes the period of events that are not inherited: of all of them or of none. */
static int change_periods(struct perf_engine *engine, uint32_t hz, struct error *err)
{
	struct perf_event_attr before = engine->grant.attr;
	size_t done;
	int r;

	set_attr(engine, hz);
	/* The rate is stored in place of the period. */
	done = set_periods(engine, engine->events.count, engine->grant.attr.sample_period);
	if (done == engine->events.count)
		return 0;
	r = error_errno(err, -errno, "cannot change the rate of a perf event");
	engine->grant.attr = before;
	(void)set_periods(engine, done, before.sample_period); /* the next change reaches all */
	return r;
}

static bool owns_ring(const struct perf_engine *engine, int fd)
{
	for (size_t i = 0; i < engine->rings.count; i++)
		if (engine->rings.items[i].fd == fd)
			return true;
	return false;
}

/* Closes the first events and those inherited from them. An event that owns a ring stays open. */
static void retire_first(struct perf_engine *engine, size_t events, size_t members)
{
	for (size_t i = 0; i < events; i++) {
		int fd = engine->events.items[i];

		(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0); /* closing does this too */
		if (!owns_ring(engine, fd) || vec_push(&engine->rate.owners, fd) < 0)
			(void)close(fd);
	}
	for (size_t i = 0; i < members; i++)
		(void)close(engine->members.items[i]);
	engine->events.count -= events;
	if (engine->events.count > 0)
		memmove(engine->events.items, engine->events.items + events,
			engine->events.count * sizeof(int));
	engine->members.count -= members;
	if (engine->members.count > 0) /* a list that never had any is NULL */
		memmove(engine->members.items, engine->members.items + members,
			engine->members.count * sizeof(int));
}

/* Closes what was opened after the first ones. */
static void retire_last(struct perf_engine *engine, size_t events, size_t members)
{
	while (engine->events.count > events)
		(void)close(engine->events.items[--engine->events.count]);
	while (engine->members.count > members)
		(void)close(engine->members.items[--engine->members.count]);
}

static bool contains(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/*
 * Opens events with the current settings, unless that was done already. Threads that have ended
 * need none.
 */
static int open_once(struct perf_engine *engine, pid_t id, struct pid_list *done, struct error *err)
{
	int r = 0;

	if (contains(done, id))
		return 0;
	r = engine->partial ? perf_open_thread(engine, id, err)
			    : perf_open_process(engine, id, err);
	if (r < 0 && r != -ESRCH)
		return r;
	return vec_push(done, id) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
}

/*
 * The same for everything watched. Processes that have just started inherited only the old events:
 * this is repeated until all known processes have the new ones.
 */
static int open_followed(struct perf_engine *engine, struct error *err)
{
	bool follows = engine->grant.attr.inherit && !engine->partial;
	struct pid_list done = {0};
	size_t before;
	int r = 0;

	if (engine->machine)
		r = perf_open_thread(engine, -1, err);
	for (size_t i = 0; i < engine->targets.count && r == 0; i++)
		r = open_once(engine, engine->targets.items[i], &done, err);
	do {
		size_t at = 0;
		pid_t pid;

		before = done.count;
		if (r == 0 && follows)
			r = perf_drain(engine, UINT64_MAX, err);
		while (r == 0 && follows &&
		       (pid = process_tracker_next_live(engine->output.tracker, &at)) > 0)
			r = open_once(engine, pid, &done, err);
	} while (r == 0 && done.count > before);
	vec_fini(&done);
	return r;
}

/* Replaces the events with ones of another period. */
static int replace_events(struct perf_engine *engine, uint32_t hz, struct error *err)
{
	struct perf_event_attr attr = engine->grant.attr;
	size_t events = engine->events.count;
	size_t members = engine->members.count;
	uint64_t counted_ns;
	int r;

	set_attr(engine, hz);
	engine->grant.attr.enable_on_exec = 0;
	r = open_followed(engine, err);
	for (size_t i = events; i < engine->events.count && r == 0; i++)
		if (ioctl(engine->events.items[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			r = error_errno(err, -errno, "cannot enable or disable a perf event");
	if (r < 0) { /* everything continues as before */
		engine->grant.attr = attr;
		retire_last(engine, events, members);
		return r;
	}
	counted_ns = perf_count_events_ns(engine, events);
	retire_first(engine, events, members);
	engine->rate.closed_ns += counted_ns;
	return 0;
}

int perf_quicken(struct perf_engine *engine, struct error *err)
{
	if (engine->grant.wakes_each)
		return 0;
	event_grant_wake_each(&engine->grant);
	return replace_events(engine, engine->rate.hz, err);
}

/* Whether programs can reach the rate by skipping some samples. */
static bool can_thin(const struct perf_engine *engine, uint32_t hz)
{
	uint32_t event_hz = engine->rate.event_hz;

	return engine->programs && (hz == 0 || (hz <= event_hz && hz >= event_hz / 2));
}

static int change(struct perf_engine *engine, uint32_t hz, struct error *err)
{
	struct perf_rate *rate = &engine->rate;
	int r = 0;

	if (!can_thin(engine, hz) || (engine->by_cpu && hz > 0)) {
		r = engine->by_cpu ? change_periods(engine, hz, err)
				   : replace_events(engine, hz, err);
		if (r == 0)
			rate->event_hz = hz;
	}
	if (r == 0 && engine->programs)
		perf_programs_set_share(engine->programs, (double)hz / rate->event_hz);
	return r;
}

static int note_pause(struct perf_rate *rate, uint32_t hz, uint64_t now_ns)
{
	if (hz == 0)
		return vec_push(&rate->pauses, (struct perf_pause){now_ns, UINT64_MAX});
	if (rate->pauses.count > 0 && rate->pauses.items[rate->pauses.count - 1].to_ns > now_ns)
		rate->pauses.items[rate->pauses.count - 1].to_ns = now_ns;
	return 0;
}

int perf_engine_set_rate(void *self, uint32_t hz, struct error *err)
{
	struct perf_engine *engine = self;
	struct perf_rate *rate = &engine->rate;
	uint64_t run_ns;
	int r;

	if (hz == rate->hz)
		return 0;
	r = perf_engine_drain(self, err); /* pending samples were taken at the current rate */
	if (r < 0)
		return r;
	run_ns = engine->clock ? perf_count_run_ns(engine) : 0;
	r = change(engine, hz, err);
	if (r < 0)
		return r;
	perf_rate_account(rate, engine->clock, run_ns);
	rate->changed_ns = clock_monotonic_ns();
	if (note_pause(rate, hz, rate->changed_ns) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	rate->hz_before = rate->hz;
	rate->hz = hz;
	return engine->programs
		       ? perf_programs_rate_changed(engine->programs, rate->changed_ns, err)
		       : 0;
}
