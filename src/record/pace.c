/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/pace.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/perf/machine_time.h"

#define LOOK_NS (250 * NS_PER_MS)
/* Of a recorder that runs all the time: what a second costs varies less. */
#define ENDLESS_LOOK_NS NS_PER_SEC
/* How long such a recorder empties its buffers more often after one was nearly full. */
#define HURRY_NS (60 * NS_PER_SEC)
#define ALARM_NS NS_PER_SEC
/* This many consecutive late periods are not chance. */
#define LATE_STRETCHES 3u
/* An engine that fails this often in a row will not recover. */
#define MOST_FAILURES 5u

static uint64_t own_cpu_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* always exists */
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static uint64_t look_every_ns(const struct pace *pace)
{
	return pace->config.endless ? ENDLESS_LOOK_NS : LOOK_NS;
}

static uint64_t cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (uint64_t)count : 1;
}

bool pace_begins_paused(const struct pace_config *config)
{
	return config->delay_ns > 0;
}

static void tell(const struct pace *pace, const char *text)
{
	if (pace->config.notice)
		pace->config.notice(pace->config.self, text);
}

/* The figures from now on are not comparable with the earlier ones. */
static void begin_stretch(struct pace *pace, uint64_t now_ns)
{
	engine_progress(pace->engine, &pace->looked);
	pace->own_ns = own_cpu_ns();
	pace->look_ns = now_ns;
}

/* The engine cannot change its rate: keep the current one. */
static void keep_rate(struct pace *pace, uint32_t hz, const struct error *err)
{
	pace->failures++;
	pace->failures_in_row++;
	pace->refused_hz = hz;
	(void)snprintf(pace->refusal, sizeof(pace->refusal), "cannot change the rate: %.200s",
		       err->text);
	if (pace->failures == 1)
		tell(pace, pace->refusal);
}

/* Whether not to ask the engine for that rate: it has failed and would fail again. */
static bool is_refused(const struct pace *pace, uint32_t hz)
{
	return pace->failures_in_row > 0 &&
	       (hz == pace->refused_hz || pace->failures_in_row >= MOST_FAILURES);
}

/* Sets the engine to the current rate. */
static void apply(struct pace *pace, uint64_t now_ns)
{
	uint32_t hz = pace->paused ? 0 : pace->budget.hz;
	struct error err = {0};

	if (hz == pace->hz || is_refused(pace, hz))
		return;
	if (engine_set_rate(pace->engine, hz, &err) < 0) {
		keep_rate(pace, hz, &err);
		return;
	}
	log_info("rate: %u Hz, was %u", hz, pace->hz);
	pace->failures_in_row = 0;
	if (hz == 0)
		pace->paused_since_ns = now_ns;
	else if (pace->hz == 0)
		pace->paused_ns += now_ns - pace->paused_since_ns;
	if (hz > 0 && !pace->fixed && hz < pace->lowest_hz)
		pace->lowest_hz = hz;
	pace->lowered += hz > 0 && hz < pace->hz;
	pace->hz = hz;
	begin_stretch(pace, now_ns);
}

static uint32_t least_hz(const struct pace_config *config)
{
	if (config->least_hz > 0)
		return config->least_hz;
	return config->machine || config->group ? BUDGET_MACHINE_HZ : BUDGET_PROCESS_HZ;
}

static void begin_budget(struct pace *pace, double share, uint32_t asked_hz)
{
	uint32_t floor_hz = least_hz(&pace->config);

	if (pace->config.endless)
		budget_init_slow(&pace->budget, share, asked_hz, floor_hz);
	else
		budget_init(&pace->budget, share, asked_hz, floor_hz);
}

void pace_begin(struct pace *pace, const struct pace_config *config, struct engine *engine)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct engine_stats stats;

	engine_progress(engine, &stats);
	*pace = (struct pace){
		.config = *config,
		.engine = engine,
		.start_ns = now_ns,
		.look_ns = now_ns,
		.alarm_ns = now_ns,
		.own_ns = own_cpu_ns(),
		.hz = stats.granted.frequency_hz,
		.fixed = stats.granted.frequency_hz == 0,
	};
	if (pace->fixed)
		pace->hz = 1; /* a nominal rate for the given period */
	begin_budget(pace, config->keeps_rate || pace->fixed ? 0 : config->budget, pace->hz);
	if (config->endless)
		breaker_init_slow(&pace->breaker, config->breaker);
	else
		breaker_init(&pace->breaker, config->breaker);
	pace->lowest_hz = pace->budget.hz;
	if (pace_begins_paused(config)) {
		pace->paused = PACE_DELAY;
		pace->paused_since_ns = now_ns;
		pace->hz = 0;
	}
	apply(pace, now_ns);
}

/* What samples have cost since then; a better estimate may be lower than the previous one. */
static uint64_t cost_since(const struct engine_stats *now, const struct engine_stats *before)
{
	if (before->cost.sample_ns == 0)
		return (now->samples.count - now->offcpu.samples - before->samples.count +
			before->offcpu.samples) *
		       now->cost.sample_ns;
	return now->cost.target_ns > before->cost.target_ns
		       ? now->cost.target_ns - before->cost.target_ns
		       : 0;
}

/* Off-CPU times come at their own pace: the recorder's work on them does not depend on the rate. */
static uint64_t own_since(uint64_t own_ns, const struct engine_stats *now,
			  const struct engine_stats *before)
{
	uint64_t all = now->samples.count - before->samples.count;
	uint64_t away = now->offcpu.samples - before->offcpu.samples;

	return all > 0 ? (uint64_t)((double)own_ns * (double)(all - away) / (double)all) : own_ns;
}

/* own_ns is the recorder's CPU time before it read the figures: measuring is not sampling. */
static void look_at_cost(struct pace *pace, uint64_t now_ns, uint64_t own_ns,
			 const struct engine_stats *stats)
{
	bool endless = pace->config.endless;
	uint64_t wall_ns =
		(now_ns - pace->look_ns) * (pace->config.machine && !endless ? cpu_count() : 1);
	struct budget_stretch stretch = {
		/* Time in which the target sleeps does not allow more samples. */
		.target_ns = pace->config.mode == ENGINE_MODE_CPU && !endless
				     ? stats->samples.seen_ns - pace->looked.samples.seen_ns
				     : wall_ns,
		.cost_ns = cost_since(stats, &pace->looked),
		.wall_ns = wall_ns,
		.own_ns = own_since(own_ns - pace->own_ns, stats, &pace->looked),
	};

	(void)budget_look(&pace->budget, &stretch);
	pace->looked = *stats;
	pace->own_ns = own_cpu_ns();
	pace->look_ns = now_ns;
}

static void act(struct pace *pace, uint32_t signs, const struct alarm_stretch *stretch,
		uint64_t now_ns)
{
	bool may_lower = !pace->config.keeps_rate && !pace->fixed;
	char text[320];

	if (signs & (1u << ALARM_FILL | 1u << ALARM_DROPS))
		pace->hurried_ns = now_ns;
	pace->hurried = pace->hurried_ns > 0 &&
			(!pace->config.endless || now_ns - pace->hurried_ns < HURRY_NS);
	if (may_lower && (signs & 1u << ALARM_DROPS))
		(void)budget_halve(&pace->budget);
	for (int kind = 0; kind < ALARMS; kind++) {
		if (!(signs & 1u << kind) || !alarms_tell(&pace->alarms, kind))
			continue;
		alarms_text(kind, stretch, may_lower, text, sizeof(text));
		tell(pace, text);
	}
}

static void look_at_alarms(struct pace *pace, uint64_t now_ns, const struct engine_stats *stats)
{
	struct alarm_stretch stretch = {
		.samples = stats->samples.count - pace->alarmed.samples.count,
		.lost = stats->samples.lost - stats->heap.missed -
			(pace->alarmed.samples.lost - pace->alarmed.heap.missed),
		.ring_fill = pace->ring_fill,
		.lag_ns = pace->lag_ns,
		.buffer_bytes = stats->memory.buffer_bytes,
		.spent = pace->budget.spent,
		.allowed = pace->config.keeps_rate || budget_is_exhausted(&pace->budget)
				   ? pace->config.budget
				   : 0,
		.floor_hz = pace->config.keeps_rate ? 0 : pace->budget.floor_hz,
		.only_heap = pace->config.only_heap,
	};
	uint32_t signs = alarms_look(&stretch);

	pace->late = signs & 1u << ALARM_LAG ? pace->late + 1 : 0;
	if (pace->late < LATE_STRETCHES)
		signs &= ~(1u << ALARM_LAG);
	act(pace, signs, &stretch, now_ns);
	pace->alarmed = *stats;
	pace->alarm_ns = now_ns;
	pace->lag_ns = 0;
	pace->ring_fill = 0;
}

static void look_at_host(struct pace *pace)
{
	struct machine_time now;
	char text[160];

	if (pace->config.breaker <= 0)
		return;
	machine_time_read(&now);
	if (!breaker_look(&pace->breaker, now.busy_ns, now.total_ns))
		return;
	if (pace->breaker.open) {
		pace->paused |= PACE_BREAKER;
		(void)snprintf(text, sizeof(text),
			       "paused: the host's CPUs are %.0f %% busy, --breaker allows %.0f %%",
			       100 * pace->breaker.busy, 100 * pace->breaker.limit);
	} else {
		pace->paused &= ~(uint32_t)PACE_BREAKER;
		(void)snprintf(text, sizeof(text),
			       "sampling resumed: the host's CPUs are %.0f %% busy",
			       100 * pace->breaker.busy);
	}
	tell(pace, text);
}

void pace_look(struct pace *pace, uint64_t now_ns, uint64_t lag_ns)
{
	struct engine_stats stats;

	if (lag_ns > pace->lag_ns)
		pace->lag_ns = lag_ns;
	if ((pace->paused & PACE_DELAY) && now_ns - pace->start_ns >= pace->config.delay_ns)
		pace->paused &= ~(uint32_t)PACE_DELAY;
	if (now_ns - pace->look_ns >= look_every_ns(pace)) {
		uint64_t own_ns = own_cpu_ns();

		engine_progress(pace->engine, &stats);
		if (stats.memory.ring_fill > pace->ring_fill)
			pace->ring_fill = stats.memory.ring_fill;
		if (pace->hz > 0)
			look_at_cost(pace, now_ns, own_ns, &stats);
		pace->look_ns = now_ns;
		if (now_ns - pace->alarm_ns >= ALARM_NS) {
			look_at_alarms(pace, now_ns, &stats);
			look_at_host(pace);
		}
	}
	apply(pace, now_ns);
}

int pace_ask(struct pace *pace, bool paused, uint64_t now_ns)
{
	if (paused)
		pace->paused |= PACE_ASKED;
	else
		pace->paused &= ~(uint32_t)(PACE_ASKED | PACE_DELAY);
	pace->failures_in_row = 0; /* an explicit request is always tried */
	apply(pace, now_ns);
	return pace->failures_in_row > 0 ? -EIO : 0;
}

void pace_change(struct pace *pace, uint32_t asked_hz, double budget, uint64_t now_ns)
{
	if (pace->fixed || pace->config.keeps_rate)
		return;
	pace->config.budget = budget;
	begin_budget(pace, budget, asked_hz);
	apply(pace, now_ns);
}

void pace_end(struct pace *pace, uint64_t now_ns)
{
	if (pace->hz == 0)
		pace->paused_ns += now_ns - pace->paused_since_ns;
}

uint64_t pace_next_ns(const struct pace *pace)
{
	uint64_t begin_ns = pace->start_ns + pace->config.delay_ns;
	uint64_t look_ns = pace->look_ns + look_every_ns(pace);

	return (pace->paused & PACE_DELAY) && begin_ns < look_ns ? begin_ns : look_ns;
}
