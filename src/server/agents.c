/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/agents.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "server/window.h"

/* Windows that may be missing before an agent counts as late, and the length of one at least. */
#define LATE_WINDOWS 3u
#define WINDOW_MIN_S 60u
/* A rate below this share of the asked one is worth a look. */
#define SLOW_SHARE 0.5

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

	(void)snprintf(agent->version, sizeof(agent->version), "%.63s", window->version);
	(void)snprintf(agent->client, sizeof(agent->client), "%s", client); /* it fits */
	agent->seen_s = clock_realtime_ns() / NS_PER_SEC;
	if (window->end_s >= agent->window_end_s) {
		agent->window_start_s = window->start_s;
		agent->window_end_s = window->end_s;
		agent->rate_asked = window->rate_asked;
		agent->rate_achieved = window->rate_achieved;
	}
	agent->clock_offset_s = clock_offset_s;
	agent->windows++;
	agent->gaps += gaps;
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

static const char *health_of(const struct agent *agent, uint64_t now_s)
{
	if (is_late(agent, now_s))
		return "late";
	if (agent->problem[0])
		return "refused";
	if (agent->clock_offset_s > 5 || agent->clock_offset_s < -5)
		return "clock";
	if (agent->rate_asked > 0 && agent->rate_achieved < SLOW_SHARE * agent->rate_asked)
		return "slow";
	return "ok";
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
	json_double(json, "rate_asked", agent->rate_asked, 2);
	json_double(json, "rate_achieved", agent->rate_achieved, 2);
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
		*ret_late += is_late(&agents->items.items[i], now_s);
	(void)pthread_mutex_unlock(&agents->lock);
}
