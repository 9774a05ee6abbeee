/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "server/push/push.h"

/* More services of one window wake nobody; the next window may. */
#define WATCHED_MAX 32

/* The services of a window that somebody watches. */
struct watched {
	struct server *server;
	const struct ingest_input *input;
	char services[WATCHED_MAX][LIVE_SERVICE_MAX];
	size_t count;
	bool by_name;
};

static bool is_noted(const struct watched *watched, const char *service)
{
	size_t i;

	for (i = 0; i < watched->count; i++)
		if (strcmp(watched->services[i], service) == 0)
			return true;
	return false;
}

static void note_service(void *self, const char *host, const char *service)
{
	struct watched *watched = self;

	if (watched->input->service_seen)
		watched->input->service_seen(watched->input->service_self, host, service);
	if (watched->count >= WATCHED_MAX || strlen(service) >= LIVE_SERVICE_MAX ||
	    is_noted(watched, service) || !live_has_watcher(&watched->server->live, service))
		return;
	(void)snprintf(watched->services[watched->count++], LIVE_SERVICE_MAX, "%s", service);
	watched->by_name = watched->by_name || live_is_watched(&watched->server->live, service);
}

static void pass_build_id(void *self, const struct build_id *id)
{
	const struct watched *watched = self;

	watched->input->build_id_seen(watched->input->service_self, id);
}

/* When the window ended, by our clock. */
static uint64_t end_of(const struct ingest_input *input, const struct ingest_result *result)
{
	int64_t end_s = (int64_t)input->window->end_s;

	if (result->shifted)
		end_s += input->clock_offset_s;
	if (end_s <= 0 || end_s > (int64_t)input->now_s + 1)
		return input->now_s + 1;
	return (uint64_t)end_s;
}

int push_store(struct server *server, const struct ingest_input *input, bool *ret_watched,
	       struct ingest_result *ret, struct error *err)
{
	struct watched watched = {.server = server, .input = input};
	struct ingest_input noting = *input;
	size_t i;
	int r;

	noting.service_seen = note_service;
	noting.build_id_seen = input->build_id_seen ? pass_build_id : NULL;
	noting.service_self = &watched; /* of both */
	r = ingest(server->store, &noting, ret, err);
	for (i = 0; i < watched.count && r == 0; i++)
		live_pushed(&server->live, watched.services[i], end_of(input, ret));
	if (ret_watched)
		*ret_watched = watched.by_name;
	return r;
}
