/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/agents.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/json.h"
#include "server/metrics.h"

/* Windows that may be missing before an agent counts as late, and the length of one at least. */
#define LATE_WINDOWS 3u
#define WINDOW_MIN_S 60u
/* A rate below this share of the asked one is worth a look. */
#define SLOW_SHARE 0.5
#define GONE_S 86400u

void agents_init(struct agents *agents)
{
	memset(agents, 0, sizeof(*agents));
	(void)pthread_mutex_init(&agents->lock, NULL); /* never fails on Linux */
}

void agents_fini(struct agents *agents)
{
	vec_fini(&agents->items);
	(void)pthread_mutex_destroy(&agents->lock); /* nobody holds it */
}

static struct agent *find(struct agents *agents, const char *host)
{
	struct agent agent = {0};
	size_t i;

	for (i = 0; i < agents->items.count; i++)
		if (strcmp(agents->items.items[i].host, host) == 0)
			return &agents->items.items[i];
	(void)snprintf(agent.host, sizeof(agent.host), "%s", host); /* it fits */
	if (agents->items.count >= AGENTS_MAX || vec_push(&agents->items, agent) < 0)
		return NULL;
	return &agents->items.items[agents->items.count - 1];
}

static void update(struct agent *agent, const struct window *window, const char *client,
		   int64_t clock_offset_s)
{
	size_t gaps = window->gaps.count;
	size_t i;

	(void)snprintf(agent->version, sizeof(agent->version), "%.63s", window->version);
	(void)snprintf(agent->client, sizeof(agent->client), "%s", client); /* it fits */
	agent->seen_s = clock_realtime_ns() / NS_PER_SEC;
	if (window->end_s >= agent->window_end_s) {
		agent->window_start_s = window->start_s;
		agent->window_end_s = window->end_s;
		/* Windows of waits and of heaps say nothing about the sampling. */
		if (window->numbers.rate_asked > 0)
			agent->last = window->numbers;
	}
	agent->samples += window->numbers.samples;
	agent->lost += window->numbers.lost;
	agent->unnamed += window->numbers.unnamed;
	agent->clock_offset_s = clock_offset_s;
	agent->windows++;
	agent->gaps += gaps;
	for (i = 0; i < gaps; i++)
		if (window->gaps.items[i].to_s > window->gaps.items[i].from_s)
			agent->paused_s +=
				(double)(window->gaps.items[i].to_s - window->gaps.items[i].from_s);
	if (gaps > 0)
		(void)snprintf(agent->gap, sizeof(agent->gap), "%.127s",
			       window->gaps.items[gaps - 1].reason);
}

void agents_pushed(struct agents *agents, const struct window *window, const char *client,
		   int64_t clock_offset_s, const char *problem)
{
	struct agent *agent;

	if (!window->host[0])
		return;
	(void)pthread_mutex_lock(&agents->lock);
	agent = find(agents, window->host);
	if (agent) {
		update(agent, window, client, clock_offset_s);
		(void)snprintf(agent->problem, sizeof(agent->problem), "%s",
			       problem ? problem : ""); /* a cut text is fine */
	}
	(void)pthread_mutex_unlock(&agents->lock);
}

static bool is_late(const struct agent *agent, uint64_t now_s)
{
	uint64_t window_s = agent->window_end_s - agent->window_start_s;

	if (agent->window_end_s <= agent->window_start_s || window_s < WINDOW_MIN_S ||
	    window_s > 3600)
		window_s = WINDOW_MIN_S;
	return now_s > agent->seen_s + LATE_WINDOWS * window_s;
}

static bool is_gone(const struct agent *agent, uint64_t now_s)
{
	return now_s > agent->seen_s + GONE_S;
}

static const char *health_of(const struct agent *agent, uint64_t now_s)
{
	if (is_late(agent, now_s))
		return "late";
	if (agent->problem[0])
		return "refused";
	if (agent->clock_offset_s > 5 || agent->clock_offset_s < -5)
		return "clock";
	if (agent->last.rate_asked > 0 &&
	    agent->last.rate_achieved < SLOW_SHARE * agent->last.rate_asked)
		return "slow";
	return "ok";
}

/* What the agent costs, and what it holds back. Older agents say less. */
static void put_costs(const struct window_numbers *last, struct json *json)
{
	json_double(json, "cpu_percent", last->cpu_percent, 3);
	json_double(json, "budget_percent", last->budget_percent, 3);
	json_u64(json, "memory_bytes", (uint64_t)last->rss_bytes);
	if (!last->breaker[0])
		return;
	json_string(json, "breaker", last->breaker);
	json_u64(json, "memory_limit_bytes", (uint64_t)last->memory_limit_bytes);
	json_u64(json, "spool_windows", (uint64_t)last->spool_windows);
	json_u64(json, "spool_bytes", (uint64_t)last->spool_bytes);
}

static void put_agent(const struct agent *agent, struct json *json, uint64_t now_s)
{
	json_open_object(json, NULL);
	json_string(json, "host", agent->host);
	json_string(json, "health", health_of(agent, now_s));
	json_string(json, "version", agent->version);
	json_string(json, "client", agent->client);
	json_u64(json, "seen", agent->seen_s);
	json_u64(json, "window_start", agent->window_start_s);
	json_u64(json, "window_end", agent->window_end_s);
	json_double(json, "rate_asked", agent->last.rate_asked, 2);
	json_double(json, "rate_achieved", agent->last.rate_achieved, 2);
	put_costs(&agent->last, json);
	json_u64(json, "window_s",
		 agent->window_end_s > agent->window_start_s
			 ? agent->window_end_s - agent->window_start_s
			 : 0);
	json_i64(json, "clock_offset_s", agent->clock_offset_s);
	json_u64(json, "windows", agent->windows);
	json_u64(json, "gaps", agent->gaps);
	json_string(json, "last_gap", agent->gap);
	json_string(json, "problem", agent->problem);
	json_close(json);
}

void agents_json(struct agents *agents, struct json *json, uint64_t now_s)
{
	size_t i;

	(void)pthread_mutex_lock(&agents->lock);
	for (i = 0; i < agents->items.count; i++)
		put_agent(&agents->items.items[i], json, now_s);
	(void)pthread_mutex_unlock(&agents->lock);
}

void agents_count(struct agents *agents, uint64_t now_s, size_t *ret_all, size_t *ret_late)
{
	size_t i;

	*ret_late = 0;
	(void)pthread_mutex_lock(&agents->lock);
	*ret_all = agents->items.count;
	for (i = 0; i < agents->items.count; i++)
		*ret_late += is_late(&agents->items.items[i], now_s) &&
			     !is_gone(&agents->items.items[i], now_s);
	(void)pthread_mutex_unlock(&agents->lock);
}

/* One metric of one agent. */
struct column {
	const char *name; /* one that ends in _total only grows */
	const char *help;
	double value;
};

#define COLUMNS 13

static void columns_of(const struct agent *agent, struct column ret[COLUMNS])
{
	const struct window_numbers *last = &agent->last;
	const struct column columns[COLUMNS] = {
		{"seen_timestamp_seconds", "When it last pushed.", (double)agent->seen_s},
		{"rate_asked_hz", "Samples per second and CPU that were asked for.",
		 last->rate_asked},
		{"rate_achieved_hz", "Samples per second of CPU time in its last window.",
		 last->rate_achieved},
		{"cpu_ratio", "Share of one CPU that its last window cost.",
		 last->cpu_percent / 100},
		{"budget_ratio", "Share of one CPU that it may cost; 0: no limit.",
		 last->budget_percent / 100},
		{"ring_fill_ratio", "Largest recent fill of a buffer of the kernel.",
		 last->ring_percent / 100},
		{"resident_bytes", "Memory of the agent.", last->rss_bytes},
		{"clock_offset_seconds", "How far its clock is behind the server's.",
		 (double)agent->clock_offset_s},
		{"windows_total", "Windows that arrived.", (double)agent->windows},
		{"samples_total", "Samples in them.", agent->samples},
		{"samples_lost_total", "Samples that its kernel had no room for.", agent->lost},
		{"samples_unnamed_total", "Samples whose innermost function has no name.",
		 agent->unnamed},
		{"paused_seconds_total", "Time without samples: breaker, memory.", agent->paused_s},
	};

	memcpy(ret, columns, sizeof(columns));
}

static void put_column(const struct agents *agents, size_t column, struct bytes *out,
		       uint64_t now_s)
{
	const struct agent *items = agents->items.items;
	struct column columns[COLUMNS];
	char name[64];
	size_t i;

	columns_of(&(struct agent){0}, columns);
	(void)snprintf(name, sizeof(name), "wick_host_%s", columns[column].name); /* it fits */
	metrics_put_head(out, name, strstr(name, "_total") ? "counter" : "gauge",
			 columns[column].help);
	for (i = 0; i < agents->items.count && i < AGENTS_LISTED; i++) {
		if (is_gone(&items[i], now_s))
			continue;
		columns_of(&items[i], columns);
		bytes_printf(out, "%s{host=\"", name);
		metrics_put_label(out, items[i].host);
		bytes_printf(out, "\"} %.17g\n", columns[column].value);
	}
}

void agents_metrics(struct agents *agents, struct bytes *out, uint64_t now_s)
{
	size_t column;

	(void)pthread_mutex_lock(&agents->lock);
	for (column = 0; column < COLUMNS; column++)
		put_column(agents, column, out, now_s);
	(void)pthread_mutex_unlock(&agents->lock);
}
