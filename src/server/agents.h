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

struct json;
struct window;

/* More hosts are not remembered, but their windows are stored. */
#define AGENTS_MAX 20000u

struct agent {
	char host[256];
	char version[64];
	char client[64];
	char problem[256]; /* why its last window was refused; "": it was not */
	char gap[128];     /* reason of the last gap */
	uint64_t seen_s;
	uint64_t window_start_s;
	uint64_t window_end_s;
	double rate_asked;
	double rate_achieved;
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

/* How many agents there are, and how many of them have not pushed for a while. */
void agents_count(struct agents *agents, uint64_t now_s, size_t *ret_all, size_t *ret_late);

#endif
