/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_facts.h"
#include "agent/burst_order.h"
#include "agent/memory_guard.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
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
/* A window waits this long for names that are being prepared; sampling goes on meanwhile. */
#define NAMES_WAIT_NS (20 * NS_PER_SEC)
/* The last window of a session waits this long; the rings are not read meanwhile. */
#define LAST_NAMES_WAIT_NS (10 * NS_PER_SEC)
#define NAMES_LOOK_NS (20 * NS_PER_MS)
/* Larger trees of stacks are trimmed: about 10 MB. */
#define MAX_NODES (1u << 16)
#define ID_MAX 160
/* What is left when memory is short: see memory_guard.h. */
#define KEPT_SERVICES 16u
#define SHORT_DEPTH 24u
#define MEMORY_LOOK_NS (2 * NS_PER_SEC)
/* The share of one CPU that a burst may cost. */
#define BURST_BUDGET 0.05

struct agent {
	const struct agent_config *config;
	struct services *services;
	struct live_profile *live;
	struct live_session *watch;
	uint64_t start_ns;  /* of the open window */
	uint64_t window_ns; /* its length */
	uint64_t run;       /* identifies this run of the agent */
	uint64_t sequence;  /* of the open window */
	/* At the start of the window: */
	struct engine_stats before;
	uint64_t own_before_ns;
	uint64_t builders_ns;        /* of sessions that are closed */
	uint64_t tick_ns;            /* when to call tick() again */
	VEC(struct window_gap) gaps; /* of the open window */
	struct memory_guard memory;
	uint64_t memory_look_ns; /* when to look at it again */
	struct burst_order burst;
	uint64_t burst_end_ns; /* 0: there is none */
	bool is_named;         /* all stacks have names */
	bool had_burst;        /* in the open window */
	struct agent_stats stats;
};

uint64_t agent_bucket_ns(uint64_t window_ns)
{
	if (window_ns <= BUCKET_NS)
		return window_ns;
	return window_ns % BUCKET_NS == 0 ? BUCKET_NS : window_ns / 2;
}

static bool meet(void *self, const struct dictionary *dictionary, uint32_t process)
{
	struct agent *agent = self;

	agent->stats.processes++;
	return services_meet(agent->services, dictionary, process);
}

/* Of those that read symbols. Recordings of --heap and others are not part of the budget. */
static uint64_t builders_ns(const struct agent *agent)
{
	return agent->builders_ns + live_profile_builders_ns(agent->live);
}

static void begin_window(struct agent *agent, uint64_t start_ns)
{
	uint64_t rss;

	agent->start_ns = start_ns;
	agent->sequence++;
	live_session_stats(agent->watch, &agent->before);
	own_process_usage(&agent->own_before_ns, &rss);
	agent->own_before_ns += builders_ns(agent);
}

/* The first window begins at start_ns. */
static int open_session(struct agent *agent, uint64_t start_ns, struct error *err)
{
	const struct agent_config *config = agent->config;
	struct live_profile_config profile = {
		.options = config->load,
		.title = config->host,
		.kallsyms = "/proc/kallsyms",
		.start_ns = start_ns,
		.depth = agent->memory.step >= MEMORY_SHORTER_STACKS ? SHORT_DEPTH : 0,
		.slice_ns = agent_bucket_ns(agent->window_ns),
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
		begin_window(agent, start_ns);
	return r;
}

static void close_session(struct agent *agent)
{
	if (agent->live)
		agent->builders_ns = builders_ns(agent);
	(void)live_session_close(agent->watch); /* it started no program */
	live_profile_free(agent->live);
	agent->watch = NULL;
	agent->live = NULL;
}

static void tell_change(struct agent *agent)
{
	if (agent->config->changed)
		agent->config->changed(agent->config->self, &agent->stats);
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
		tell_change(agent);
	} else if (!paused && is_open) {
		last->end_ns = now_ns;
		agent->stats.paused_ns += now_ns - last->start_ns;
		tell_change(agent);
	}
}

/* What the window cost, as a share of one CPU, and how often it sampled. */
static void look_at_costs(struct agent *agent, uint64_t end_ns)
{
	struct engine_stats now;
	uint64_t own_ns;
	uint64_t peak_bytes;
	double wall_ns = (double)(end_ns - agent->start_ns);
	uint64_t seen_ns;

	live_session_stats(agent->watch, &now);
	own_process_usage(&own_ns, &peak_bytes);
	own_ns += builders_ns(agent);
	agent->stats.rss_bytes = own_process_resident_bytes();
	seen_ns = now.samples.seen_ns - agent->before.samples.seen_ns;
	agent->stats.asked_hz = agent->config->sampling.frequency_hz;
	agent->stats.budget = agent->burst_end_ns > 0 ? BURST_BUDGET : agent->config->budget;
	agent->stats.ring_fill = now.memory.ring_fill;
	agent->stats.memory_limit_bytes = agent->config->memory_bytes;
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

static const char *breaker_state(const struct agent *agent)
{
	if (agent->config->breaker <= 0)
		return "off";
	return agent->stats.paused & PACE_BREAKER ? "open" : "closed";
}

static void put_facts(const struct agent *agent, struct agent_facts *facts)
{
	const struct agent_stats *stats = &agent->stats;
	const struct agent_output *output = &agent->config->output;
	uint64_t windows;
	uint64_t bytes;

	agent_facts_add(facts, "agent.cpu_percent", "%.3f", 100 * stats->cpu_share);
	agent_facts_add(facts, "agent.budget_percent", "%g", 100 * stats->budget);
	agent_facts_add(facts, "agent.ring_percent", "%.1f", 100 * stats->ring_fill);
	agent_facts_add(facts, "agent.rss_bytes", "%" PRIu64, stats->rss_bytes);
	agent_facts_add(facts, "agent.memory_limit_bytes", "%" PRIu64, stats->memory_limit_bytes);
	agent_facts_add(facts, "agent.breaker", "%s", breaker_state(agent));
	if (output->waiting) {
		output->waiting(output->self, &windows, &bytes);
		agent_facts_add(facts, "agent.spool_windows", "%" PRIu64, windows);
		agent_facts_add(facts, "agent.spool_bytes", "%" PRIu64, bytes);
	}
	if (agent->memory.step != MEMORY_ALL)
		agent_facts_add(facts, "agent.memory_step", "%s",
				memory_step_name(agent->memory.step));
	if (agent->had_burst)
		agent_facts_add(facts, "agent.burst", "%u Hz %s", agent->burst.rate_hz,
				agent->burst.id);
}

static int write_window(struct agent *agent, uint64_t end_ns, uint64_t names_deadline_ns,
			struct window_totals *totals, struct error *err)
{
	const struct agent_config *config = agent->config;
	char id[ID_MAX];
	struct agent_facts facts = {0};
	struct window window = {
		.id = id,
		.host = config->host,
		.start_ns = agent->start_ns,
		.end_ns = end_ns,
		.bucket_ns = agent_bucket_ns(agent->window_ns),
		.engine = live_session_engine(agent->watch),
		.asked_hz = config->sampling.frequency_hz,
		.achieved_hz = agent->stats.achieved_hz,
		.by_address = config->by_address,
		.module = config->output.module,
		.module_self = config->output.self,
		.names_deadline_ns = names_deadline_ns,
		.gaps = agent->gaps.items,
		.gap_count = agent->gaps.count,
		.facts = facts.items,
		.to_real_ns = clock_realtime_ns() - clock_monotonic_ns(),
	};
	int fd;
	int r;

	(void)snprintf(id, sizeof(id), "%.100s-%" PRIx64 "-%" PRIu64, config->host, agent->run,
		       agent->sequence);
	put_facts(agent, &facts);
	window.fact_count = facts.count;
	fd = config->output.begin(config->output.self, id, err);
	if (fd < 0)
		return fd;
	r = window_write(&window, agent->live, agent->services, fd, totals, err);
	if (r < 0)
		(void)config->output.end(config->output.self, NULL, err); /* r is reported */
	return r < 0 ? r : config->output.end(config->output.self, totals, err);
}

/* A pause that continues belongs to the next window too. */
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

static int count_row(void *self, const struct live_row *row)
{
	services_add_samples(self, row->process, row->samples);
	return 0;
}

/* Hands the window over. If that fails its samples are lost, and the agent goes on. */
static int end_window(struct agent *agent, uint64_t end_ns, uint64_t names_deadline_ns,
		      struct error *err)
{
	struct window_totals totals = {0};
	int r;

	look_at_costs(agent, end_ns);
	r = write_window(agent, end_ns, names_deadline_ns, &totals, err);
	agent->stats.windows += r == 0;
	agent->stats.failed_windows += r < 0;
	agent->stats.samples += totals.samples;
	agent->stats.lost += totals.lost;
	agent->stats.unnamed += totals.unnamed;
	agent->stats.rows += totals.rows;
	agent->stats.services = services_count(agent->services);
	for (uint64_t at = agent->start_ns; at < end_ns; at += agent_bucket_ns(agent->window_ns))
		(void)live_profile_visit(agent->live, at, count_row, agent->services);
	live_profile_drop(agent->live, end_ns);
	begin_gaps(agent);
	agent->had_burst = agent->burst_end_ns > 0;
	(void)malloc_trim(0); /* what the window needed lies between what stays */
	begin_window(agent, end_ns);
	tell_change(agent);
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
	uint64_t end_ns = agent->start_ns + agent->window_ns;
	struct error why = {0};

	if (now_ns < end_ns + GRACE_NS)
		return 0;
	live_profile_hurry(agent->live, !agent->is_named);
	if (!agent->is_named && now_ns < end_ns + NAMES_WAIT_NS)
		return 0;
	live_profile_hurry(agent->live, false);
	if (end_window(agent, end_ns, 0, &why) < 0 && !agent->config->once)
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
	return r < 0 ? r : end_window(agent, now_ns, now_ns + LAST_NAMES_WAIT_NS, err);
}

/* Begins anew with empty memory, and with what the guard leaves. The open window ends. */
static int renew(struct agent *agent, struct error *err)
{
	uint64_t end_ns = clock_monotonic_ns();
	bool is_short = agent->memory.step >= MEMORY_FEWER_SERVICES;
	struct error why = {0};
	int r;

	if (end_window(agent, end_ns, end_ns + LAST_NAMES_WAIT_NS, &why) < 0)
		tell(agent, &why);
	close_session(agent);
	services_restart(agent->services, is_short ? KEPT_SERVICES : UINT32_MAX);
	(void)malloc_trim(0); /* whether something was freed does not matter */
	agent->stats.renewals++;
	agent->stats.memory_step = agent->memory.step;
	r = open_session(agent, end_ns, err);
	if (r < 0)
		return r;
	if (agent->memory.step == MEMORY_PAUSE)
		live_session_pause(agent->watch, true);
	agent->gaps.count = 0;
	/* If out of memory, the rate still shows the gap. */
	(void)vec_push(&agent->gaps, (struct window_gap){end_ns, clock_monotonic_ns(), "memory"});
	return 0;
}

static int look_at_memory(struct agent *agent, uint64_t now_ns, struct error *err)
{
	char text[160];
	int r = 0;

	if (now_ns < agent->memory_look_ns)
		return 0;
	agent->memory_look_ns = now_ns + MEMORY_LOOK_NS;
	switch (memory_guard_look(&agent->memory, own_process_resident_bytes(), now_ns)) {
	case MEMORY_FINE:
		break;
	case MEMORY_TIDY:
		r = live_profile_tidy(agent->live, err);
		(void)malloc_trim(0);
		break;
	case MEMORY_CHANGE:
		(void)snprintf(
			text, sizeof(text), "memory: the limit is %" PRIu64 " MB; from now on: %s",
			agent->memory.limit_bytes >> 20, memory_step_name(agent->memory.step));
		agent->config->notice(agent->config->self, text);
		r = renew(agent, err);
		break;
	}
	return r;
}

/* A burst samples everything more often: the kernel does not know services. */
static void look_at_orders(struct agent *agent, uint64_t now_ns)
{
	const struct agent_config *config = agent->config;
	struct burst_order order;

	if (agent->burst_end_ns > 0 && now_ns >= agent->burst_end_ns) {
		live_session_change(agent->watch, config->sampling.frequency_hz, config->budget);
		agent->burst_end_ns = 0;
		log_info("burst %s has ended", agent->burst.id);
	}
	if (!config->output.order || !config->output.order(config->output.self, &order))
		return;
	if (order.service[0] && !services_has(agent->services, order.service))
		return; /* it does not run here */
	agent->burst = order;
	agent->burst_end_ns = now_ns + order.seconds * NS_PER_SEC;
	agent->had_burst = true;
	live_session_change(agent->watch, order.rate_hz, BURST_BUDGET);
	log_info("burst %s: %u Hz for %u s", order.id, order.rate_hz, order.seconds);
}

/*
 * Windows are shorter while somebody watches. The length changes at the begin of a window, while
 * all its samples belong to its first bucket, whichever length that has.
 */
static void choose_window(struct agent *agent, uint64_t now_ns)
{
	const struct agent_config *config = agent->config;
	uint64_t wanted_ns = config->output.window_s
				     ? config->output.window_s(config->output.self) * NS_PER_SEC
				     : 0;
	uint64_t bucket_ns = agent_bucket_ns(agent->window_ns);

	if (wanted_ns == 0 || wanted_ns > config->window_ns)
		wanted_ns = config->window_ns;
	if (agent_bucket_ns(wanted_ns) < bucket_ns)
		bucket_ns = agent_bucket_ns(wanted_ns);
	if (wanted_ns == agent->window_ns || now_ns >= agent->start_ns + bucket_ns)
		return;
	live_profile_set_slice(agent->live, agent->start_ns, agent_bucket_ns(wanted_ns));
	agent->window_ns = wanted_ns;
	log_info("windows have %u s from now on", (unsigned int)(wanted_ns / NS_PER_SEC));
}

static void tick(struct agent *agent, uint64_t now_ns)
{
	if (now_ns < agent->tick_ns)
		return;
	agent->tick_ns = now_ns + NS_PER_SEC;
	services_look_again(agent->services, live_profile_dictionary(agent->live));
	if (agent->config->tick)
		agent->config->tick(agent->config->self);
}

static int turn(struct agent *agent, uint32_t *ret_events, struct error *err)
{
	uint64_t due_ns = agent->start_ns + agent->window_ns + GRACE_NS;
	uint64_t now_ns = clock_monotonic_ns();
	int r;

	if (due_ns < now_ns + NAMES_LOOK_NS)
		due_ns = now_ns + NAMES_LOOK_NS;
	r = live_session_turn(agent->watch, -1, due_ns, ret_events, err);
	if (r == 0 && (*ret_events & WATCH_SUSPEND))
		r = live_session_stand_by(agent->watch, err);
	if (r < 0)
		return r;
	now_ns = clock_monotonic_ns();
	look_at_pauses(agent, now_ns);
	if (!agent->config->by_address)
		r = live_profile_name(agent->live, now_ns, NAMING_NS);
	agent->is_named = agent->config->by_address || r > 0;
	if (r < 0)
		return error_set(err, r, "out of memory");
	look_at_orders(agent, now_ns);
	choose_window(agent, now_ns);
	tick(agent, now_ns);
	if (*ret_events & WATCH_RELOAD)
		agent->config->reload(agent->config->self, agent);
	return look_at_memory(agent, now_ns, err);
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

/*
 * Between two sessions nobody reads signals: they must wait. Ignored ones, as under nohup, would be
 * delivered if they were blocked.
 */
void agent_signals_hold(struct agent_signals *ret)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;

	(void)sigemptyset(&ret->held);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (sigaction(taken[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(&ret->held, taken[i]);
	(void)sigprocmask(SIG_BLOCK, &ret->held, &ret->before); /* cannot fail */
}

/* A signal that arrived twice must not kill us now. */
void agent_signals_release(const struct agent_signals *signals)
{
	while (sigtimedwait(&signals->held, NULL, &(struct timespec){0}) > 0)
		continue;
	(void)sigprocmask(SIG_SETMASK, &signals->before, NULL); /* cannot fail */
}

int agent_run(const struct agent_config *config, struct error *err)
{
	struct agent_signals signals;
	struct agent agent = {.config = config,
			      .window_ns = config->window_ns,
			      .run = clock_realtime_ns() ^ (uint64_t)getpid(),
			      .memory = {.limit_bytes = config->memory_bytes}};
	int r = services_new(&config->services, &agent.services, err);

	agent_signals_hold(&signals);
	if (r == 0)
		r = open_session(&agent, clock_monotonic_ns(), err);
	if (r == 0 && live_session_notice(agent.watch)[0])
		config->notice(config->self, live_session_notice(agent.watch));
	if (r == 0)
		r = run_loop(&agent, err);
	close_session(&agent);
	services_free(agent.services);
	vec_fini(&agent.gaps);
	agent_signals_release(&signals);
	return r;
}
