/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "server/query.h"
#include "server/routes.h"
#include "server/state.h"

#define STEP_NS (5 * NS_PER_SEC)
#define WAIT_MS (3600 * 1000u)
#define WINDOW_S 60u
#define WINDOW_MAX_S 600u
/* The store keeps the start of a bucket: it ends this much later at most. */
#define BUCKET_MAX_S 30u
/* How far back the newest samples may be to count as the present. */
#define LOOK_BACK_S 900u

/* One page that watches. */
struct live_stream {
	struct server *server;
	struct live_watcher watcher;
	struct query query;
	char token[TOKEN_ID_MAX];
	uint64_t window_s;
	uint64_t newest_s; /* end of the newest window; 0: none is known */
	uint64_t step_ns;  /* when the last step was sent; 0: none was */
	bool has_news;     /* that was not sent yet */
};

/* What a list of types adds up to. */
struct extent {
	uint64_t samples;
	uint32_t last_s;
};

static bool add_item(void *self, const struct store_item *item)
{
	struct extent *extent = self;

	extent->samples += item->samples;
	if (item->to_s > extent->last_s)
		extent->last_s = item->to_s;
	return true;
}

static int ask_store(struct live_stream *stream, uint64_t from_s, uint64_t to_s, struct extent *ret)
{
	struct error err = {0};
	int r;

	*ret = (struct extent){0};
	stream->query.selector.from_s = (uint32_t)from_s;
	stream->query.selector.to_s = (uint32_t)to_s;
	(void)pthread_mutex_lock(&stream->server->live.query_lock);
	r = store_values(stream->server->store, &stream->query.selector, "type", add_item, ret,
			 &err);
	(void)pthread_mutex_unlock(&stream->server->live.query_lock);
	return r;
}

/* Before the first push, the store knows about when the newest window ended. */
static void find_newest(struct live_stream *stream, uint64_t now_s)
{
	struct extent extent;

	if (ask_store(stream, now_s - LOOK_BACK_S, now_s + 1, &extent) < 0 || extent.last_s == 0)
		return;
	stream->newest_s = extent.last_s + BUCKET_MAX_S;
	if (stream->newest_s > now_s + 1)
		stream->newest_s = now_s + 1;
}

static void put_step(struct live_stream *stream, struct bytes *out)
{
	uint64_t now_s = clock_realtime_ns() / NS_PER_SEC;
	struct extent extent = {0};
	uint64_t to_s;

	if (stream->newest_s == 0)
		find_newest(stream, now_s);
	to_s = stream->newest_s ? stream->newest_s : now_s + 1;
	/* If the store fails, the page learns why when it asks for the profile. */
	if (stream->newest_s)
		(void)ask_store(stream, to_s - stream->window_s, to_s, &extent);
	bytes_printf(out,
		     "event: step\ndata: {\"from\": %" PRIu64 ", \"to\": %" PRIu64
		     ", \"samples\": %" PRIu64 ", \"newest\": %" PRIu64 "}\n\n",
		     to_s - stream->window_s, to_s, extent.samples, stream->newest_s);
}

static bool next(void *self, struct bytes *out, uint64_t *ret_wait_ms)
{
	struct live_stream *stream = self;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t newest_s;

	if (!http_access_holds(&stream->server->access, stream->token, TOKEN_READ))
		return false;
	if (live_take_news(&stream->server->live, &stream->watcher, &newest_s))
		stream->has_news = true;
	if (newest_s > stream->newest_s)
		stream->newest_s = newest_s;
	*ret_wait_ms = WAIT_MS;
	if (stream->step_ns > 0 && !stream->has_news)
		return true;
	if (stream->step_ns > 0 && now_ns < stream->step_ns + STEP_NS) {
		*ret_wait_ms = (stream->step_ns + STEP_NS - now_ns) / NS_PER_MS + 1;
		return true;
	}
	stream->has_news = false;
	stream->step_ns = now_ns;
	put_step(stream, out);
	return true;
}

static void stream_free(void *self)
{
	struct live_stream *stream = self;

	live_leave(&stream->server->live, &stream->watcher);
	free(stream);
}

static int open_stream(struct live_stream *stream, const struct http_call *request,
		       struct error *err)
{
	const char *service;
	struct http_grant grant;
	int r = query_read(&stream->query, &stream->server->source, request, "cpu", err);

	if (r == 0)
		r = query_number(request, "window", WINDOW_S, WINDOW_MAX_S, &stream->window_s, err);
	if (r < 0)
		return r;
	service = selector_value(&stream->query.labels, "service");
	(void)snprintf(stream->watcher.service, sizeof(stream->watcher.service), "%s",
		       service ? service : ""); /* a longer name watches nothing */
	http_access_grant(&stream->server->access, request, &grant);
	(void)snprintf(stream->token, sizeof(stream->token), "%s", grant.id); /* it fits */
	r = live_enter(&stream->server->live, &stream->watcher);
	return r < 0 ? error_errno(err, r, "cannot watch %s", service ? service : "all services")
		     : 0;
}

void route_live(void *self, const struct http_call *request, struct http_response *response)
{
	struct live_stream *stream = calloc(1, sizeof(*stream));
	struct error err = {0};
	int r = stream ? 0 : error_set(&err, -ENOMEM, "out of memory");

	if (stream)
		stream->server = self;
	if (r == 0)
		r = open_stream(stream, request, &err);
	if (r < 0) {
		free(stream);
		http_refuse_error(response, 0, &err);
		return;
	}
	response->type = "text/event-stream; charset=utf-8";
	response->stream = (struct http_stream){.next = next,
						.free = stream_free,
						.self = stream,
						.wake_fd = stream->watcher.wake_fd};
}
