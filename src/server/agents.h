/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_AGENTS_H
#define WICK_SERVER_AGENTS_H

/*
 * agents: what the last push of each host said about its agent. Kept in memory: after a restart of
 * the server the next pushes fill it again. Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "server/push/window.h"

struct bytes;
struct json;

/* More hosts are not remembered, but their windows are stored. */
#define AGENTS_MAX 20000u

/* Metrics with a host each: more would be a burden for Prometheus. */
#define AGENTS_LISTED 2000u

struct agent {
	char host[256];
	char version[64];
	char client[64];
	char problem[256]; /* why its last window was refused; "": it was not */
	char gap[128];     /* reason of the last gap */
	uint64_t seen_s;
	uint64_t window_start_s;
	uint64_t window_end_s;
	struct window_numbers last; /* of its last window */
	/* Of all its windows since the server started: */
	double samples;
	double lost;
	double unnamed;
	double paused_s;
	int64_t clock_offset_s;
	uint64_t windows;
	uint64_t gaps;
};

struct agents {
	pthread_mutex_t lock;
	VEC(struct agent) items;
};

void agents_init(struct agents *agents);
void agents_fini(struct agents *agents);

/* A push of a window. problem: why it was refused; NULL: it was stored. */
void agents_pushed(struct agents *agents, const struct window *window, const char *client,
		   int64_t clock_offset_s, const char *problem);

/* Writes an array of objects. */
void agents_json(struct agents *agents, struct json *json, uint64_t now_s);

/*
 * How many agents there are, and how many of them have not pushed for a while. Those that have not
 * pushed for a day do not count as late: their hosts are gone.
 */
void agents_count(struct agents *agents, uint64_t now_s, size_t *ret_all, size_t *ret_late);

/* What each agent said, for Prometheus: those that are not gone, AGENTS_LISTED at most. */
void agents_metrics(struct agents *agents, struct bytes *out, uint64_t now_s);

#endif
