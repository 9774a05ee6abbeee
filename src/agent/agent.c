/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine_stats.h"
#include "live/live_profile.h"
#include "live/live_session.h"
#include "model/dictionary.h"
#include "record/budget.h"
#include "record/own_process.h"
#include "record/pace.h"

#define BUCKET_NS (30 * NS_PER_SEC)
/* Samples of a window may arrive this much later. */
#define GRACE_NS (NS_PER_SEC / 2)
/* Names are looked up this long in each turn: about 0.5 % of the time. */
#define NAMING_NS NS_PER_MS
/* Larger trees of stacks are trimmed: about 10 MB. */
#define MAX_NODES (1u << 16)
#define ID_MAX 160

struct agent {
	const struct agent_config *config;
	struct services *services;
	struct live_profile *live;
	struct live_session *watch;
	uint64_t start_ns; /* of the open window */
	uint64_t run;      /* identifies this run of the agent */
	uint64_t sequence; /* of the open window */
	/* At the start of the window: */
	struct engine_stats before;
	uint64_t own_before_ns;
	VEC(struct window_gap) gaps; /* of the open window */
	struct agent_stats stats;
};

uint64_t agent_bucket_ns(uint64_t window_ns)
{
	if (window_ns <= BUCKET_NS)
		return window_ns;
	return window_ns % BUCKET_NS == 0 ? BUCKET_NS : window_ns / 2;
}

static void meet(void *self, const struct dictionary *dictionary, uint32_t process)
{
	struct agent *agent = self;

	agent->stats.processes++;
	services_meet(agent->services, dictionary, process);
}

static void begin_window(struct agent *agent, uint64_t start_ns)
{
	uint64_t rss;

	agent->start_ns = start_ns;
	agent->sequence++;
	live_session_stats(agent->watch, &agent->before);
	own_process_usage(&agent->own_before_ns, &rss);
}

static int open_session(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;
	uint64_t now_ns = clock_monotonic_ns();
	struct live_profile_config profile = {
		.options = config->load,
		.title = config->host,
		.kallsyms = "/proc/kallsyms",
		.start_ns = now_ns,
		.slice_ns = agent_bucket_ns(config->window_ns),
		.by_process = true,
		.meet = meet,
		.self = agent,
		.max_nodes = MAX_NODES,
	};
	struct live_session_config session = {
		.sampling = config->sampling,
		.target = {.kind = TARGET_MACHINE},
		.pace = {.budget = config->budget,
			 .endless = true,
			 .least_hz = BUDGET_AGENT_HZ,
			 .breaker = config->breaker,
			 .notice = config->notice,
			 .self = config->self},
		.reloads = config->reload != NULL,
	};
	int exec_code;
	int r = live_profile_new(&profile, &agent->live, err);

	if (r < 0)
		return r;
	session.sink = live_profile_sink(agent->live);
	session.engine = engine_find(config->engine, &session.target, err);
	if (!session.engine)
		return err->code;
	r = live_session_open(&session, &agent->watch, &exec_code, err);
	if (r == 0)
		begin_window(agent, now_ns);
	return r;
}

static void close_session(struct agent *agent)
{
	(void)live_session_close(agent->watch); /* it started no program */
	live_profile_free(agent->live);
	agent->watch = NULL;
	agent->live = NULL;
}

/* Notes when sampling pauses, and why. */
static void look_at_pauses(struct agent *agent, uint64_t now_ns)
{
	uint32_t paused = live_session_paused(agent->watch);
	struct window_gap *last =
		agent->gaps.count > 0 ? &agent->gaps.items[agent->gaps.count - 1] : NULL;
	bool is_open = last && last->end_ns == UINT64_MAX;

	agent->stats.paused = paused;
	agent->stats.hz = live_session_rate_hz(agent->watch);
	if (paused && !is_open) {
		struct window_gap gap = {now_ns, UINT64_MAX,
					 paused & PACE_BREAKER ? "breaker" : "memory"};

		(void)vec_push(&agent->gaps, gap); /* the rate still shows it */
	} else if (!paused && is_open) {
		last->end_ns = now_ns;
		agent->stats.paused_ns += now_ns - last->start_ns;
	}
}

/* What the window cost, as a share of one CPU, and how often it sampled. */
static void look_at_costs(struct agent *agent, uint64_t end_ns)
{
	struct engine_stats now;
	uint64_t own_ns;
	double wall_ns = (double)(end_ns - agent->start_ns);
	uint64_t seen_ns;

	live_session_stats(agent->watch, &now);
	own_process_usage(&own_ns, &agent->stats.rss_bytes);
	seen_ns = now.samples.seen_ns - agent->before.samples.seen_ns;
	agent->stats.asked_hz = agent->config->sampling.frequency_hz;
	agent->stats.achieved_hz =
		seen_ns > 0 ? (double)(now.samples.count - agent->before.samples.count) * 1e9 /
				      (double)seen_ns
			    : 0;
	agent->stats.cpu_ns = own_ns + now.cost.target_ns;
	agent->stats.cpu_share =
		((double)(own_ns - agent->own_before_ns) + (double)now.cost.target_ns -
		 (double)agent->before.cost.target_ns) /
		wall_ns;
}

static int write_window(struct agent *agent, uint64_t end_ns, struct window_totals *totals,
			struct error *err)
{
	const struct agent_config *config = agent->config;
	char id[ID_MAX];
	char share[32];
	char rss[32];
	struct window_fact facts[] = {{"agent.cpu_percent", share}, {"agent.rss_bytes", rss}};
	struct window window = {
		.id = id,
		.host = config->host,
		.start_ns = agent->start_ns,
		.end_ns = end_ns,
		.bucket_ns = agent_bucket_ns(config->window_ns),
		.engine = live_session_engine(agent->watch),
		.asked_hz = config->sampling.frequency_hz,
		.achieved_hz = agent->stats.achieved_hz,
		.by_address = config->by_address,
		.gaps = agent->gaps.items,
		.gap_count = agent->gaps.count,
		.facts = facts,
		.fact_count = ARRAY_SIZE(facts),
		.to_real_ns = clock_realtime_ns() - clock_monotonic_ns(),
	};
	int fd;
	int r;

	(void)snprintf(id, sizeof(id), "%.100s-%" PRIx64 "-%" PRIu64, config->host, agent->run,
		       agent->sequence);
	(void)snprintf(share, sizeof(share), "%.3f", 100 * agent->stats.cpu_share);
	(void)snprintf(rss, sizeof(rss), "%" PRIu64, agent->stats.rss_bytes);
	fd = config->output.begin(config->output.self, id, err);
	if (fd < 0)
		return fd;
	r = window_write(&window, agent->live, agent->services, fd, totals, err);
	if (r < 0)
		(void)config->output.end(config->output.self, NULL, NULL); /* r is reported */
	return r < 0 ? r : config->output.end(config->output.self, totals, err);
}

/* A pause that goes on is one of the next window too. */
static void begin_gaps(struct agent *agent)
{
	size_t count = agent->gaps.count;

	if (count > 0 && agent->gaps.items[count - 1].end_ns == UINT64_MAX) {
		agent->gaps.items[0] = agent->gaps.items[count - 1];
		agent->gaps.count = 1;
	} else {
		agent->gaps.count = 0;
	}
}

/* Hands the window over. If that fails its samples are lost, and the agent goes on. */
static int end_window(struct agent *agent, uint64_t end_ns, struct error *err)
{
	struct window_totals totals = {0};
	int r;

	look_at_costs(agent, end_ns);
	r = write_window(agent, end_ns, &totals, err);
	agent->stats.windows += r == 0;
	agent->stats.failed_windows += r < 0;
	agent->stats.samples += totals.samples;
	agent->stats.lost += totals.lost;
	agent->stats.rows += totals.rows;
	agent->stats.services = services_count(agent->services);
	live_profile_drop(agent->live, end_ns);
	begin_gaps(agent);
	begin_window(agent, end_ns);
	return r;
}

static void tell(const struct agent *agent, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 16];

	(void)snprintf(text, sizeof(text), "%s\n      %s", err->text, err->remedy);
	agent->config->notice(agent->config->self, text);
}

/* Ends the window that is due. Windows begin where the previous one ended. */
static int look_at_window(struct agent *agent, uint64_t now_ns, struct error *err)
{
	uint64_t end_ns = agent->start_ns + agent->config->window_ns;
	struct error why = {0};

	if (now_ns < end_ns + GRACE_NS)
		return 0;
	if (end_window(agent, end_ns, &why) < 0 && !agent->config->once)
		tell(agent, &why);
	else if (why.code < 0)
		return *err = why, why.code;
	return agent->config->once ? 1 : 0;
}

/* Stops sampling and hands over what there is of the open window. */
static int finish(struct agent *agent, struct error *err)
{
	uint64_t now_ns;
	int r = live_session_stop(agent->watch, err);

	now_ns = clock_monotonic_ns();
	look_at_pauses(agent, now_ns);
	return r < 0 ? r : end_window(agent, now_ns, err);
}

static int turn(struct agent *agent, uint32_t *ret_events, struct error *err)
{
	uint64_t due_ns = agent->start_ns + agent->config->window_ns + GRACE_NS;
	uint64_t now_ns;
	int r = live_session_turn(agent->watch, -1, due_ns, ret_events, err);

	if (r == 0 && (*ret_events & WATCH_SUSPEND))
		r = live_session_stand_by(agent->watch, err);
	if (r < 0)
		return r;
	now_ns = clock_monotonic_ns();
	look_at_pauses(agent, now_ns);
	if (!agent->config->by_address)
		r = live_profile_name(agent->live, now_ns, NAMING_NS);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (*ret_events & WATCH_RELOAD)
		agent->config->reload(agent->config->self, agent);
	return 0;
}

static int run_loop(struct agent *agent, struct error *err)
{
	int r = 0;

	while (r == 0) {
		uint32_t events = 0;

		r = turn(agent, &events, err);
		if (r == 0 && (events & WATCH_STOP))
			return finish(agent, err);
		if (r == 0)
			r = look_at_window(agent, clock_monotonic_ns(), err);
	}
	return r < 0 ? r : 0;
}

int agent_reload(struct agent *agent, const struct services_config *services, struct error *err)
{
	struct services *fresh;
	int r = services_new(services, &fresh, err);

	if (r < 0)
		return r;
	services_meet_again(fresh, agent->services, live_profile_dictionary(agent->live));
	services_free(agent->services);
	agent->services = fresh;
	return 0;
}

int agent_run(const struct agent_config *config, struct error *err)
{
	struct agent agent = {.config = config, .run = clock_realtime_ns() ^ (uint64_t)getpid()};
	int r = services_new(&config->services, &agent.services, err);

	if (r == 0)
		r = open_session(&agent, err);
	if (r == 0 && live_session_notice(agent.watch)[0])
		config->notice(config->self, live_session_notice(agent.watch));
	if (r == 0)
		r = run_loop(&agent, err);
	close_session(&agent);
	services_free(agent.services);
	vec_fini(&agent.gaps);
	return r;
}
