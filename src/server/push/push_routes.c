/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "net/content_coding.h"
#include "server/push/push.h"
#include "server/routes.h"

int push_body(struct server *server, const struct http_call *request, struct bytes *ret,
	      struct error *err)
{
	return content_decode(http_call_header(request, "Content-Encoding"), request->body,
			      request->body_size, server->config->max_decoded_bytes, ret, err);
}

/* What the sender's clock differs from ours, in seconds: 0 if it does not say. */
static int64_t clock_offset(const struct http_call *request, uint64_t now_ns)
{
	const char *text = http_call_header(request, "X-Wick-Now");
	uint64_t theirs_ns;

	if (!text || number_parse_u64(text, &theirs_ns) < 0 || theirs_ns > INT64_MAX)
		return 0;
	return ((int64_t)now_ns - (int64_t)theirs_ns) / (int64_t)NS_PER_SEC;
}

void push_count(struct server *server, const struct ingest_result *result, int r)
{
	struct metrics *metrics = &server->metrics;

	if (r < 0) {
		metrics_add(metrics,
			    http_status_of(r) < 500 ? &metrics->rejected_windows
						    : &metrics->delayed_windows,
			    1);
		return;
	}
	metrics_add(metrics,
		    result->duplicates == result->batches && result->batches > 0
			    ? &metrics->duplicate_windows
			    : &metrics->windows,
		    1);
	metrics_add(metrics, &metrics->rows, result->rows);
	if (result->shifted)
		metrics_add(metrics, &metrics->shifted_windows, 1);
}

/* An order for the agent of a host. */
struct host_order {
	char host[WINDOW_TEXT_MAX];
	struct burst burst;
};

/* The orders that fit the services of a window: one for each host. */
struct order_search {
	struct server *server;
	const char *host; /* NULL: those that the samples name */
	uint64_t now_s;
	bool is_watched;
	VEC(struct host_order) orders;
	VEC(struct build_id) build_ids; /* of its modules */
};

#define BUILD_IDS_MAX 4096
/* What agents are asked for while somebody watches one of their services: pushes of more than FEW
 * agents would be too many. */
#define LIVE_WINDOW_S 5
#define LIVE_WINDOW_OF_MANY_S 10
#define FEW 50

static void find_order(void *self, const char *host, const char *service)
{
	struct order_search *search = self;
	struct host_order order;
	size_t i;

	if (search->host)
		host = search->host;
	for (i = 0; i < search->orders.count; i++)
		if (strcmp(search->orders.items[i].host, host) == 0)
			return;
	if (!bursts_take(&search->server->bursts, host, service,
			 search->server->config->burst_hosts, search->now_s, &order.burst))
		return;
	(void)snprintf(order.host, sizeof(order.host), "%s", host);
	(void)vec_push(&search->orders, order); /* else the agent has no burst */
}

static void put_burst(const struct burst *burst, struct json *json)
{
	json_open_object(json, "burst");
	json_string(json, "id", burst->id);
	json_string(json, "service", burst->service);
	json_u64(json, "rate", burst->rate_hz);
	json_u64(json, "seconds", burst->seconds);
	json_close(json);
}

static void put_orders(const struct order_search *search, struct json *json)
{
	size_t i;

	if (search->orders.count == 0)
		return;
	if (search->host)
		put_burst(&search->orders.items[0].burst, json);
	/* For relays, which pass them on. */
	json_open_array(json, "orders");
	for (i = 0; i < search->orders.count; i++) {
		json_open_object(json, NULL);
		json_string(json, "host", search->orders.items[i].host);
		put_burst(&search->orders.items[i].burst, json);
		json_close(json);
	}
	json_close(json);
}

static void note_build_id(void *self, const struct build_id *id)
{
	struct order_search *search = self;

	if (search->build_ids.count < BUILD_IDS_MAX)
		(void)vec_push(&search->build_ids, *id); /* else the next window has it */
}

/* The symbols that the sender, who can send them, is asked for. */
static void put_wanted(const struct order_search *search, struct json *json)
{
	uint32_t wanted[NAMING_WANTED_MAX];
	size_t n = naming_wanted(search->server->naming, search->build_ids.items,
				 search->build_ids.count, search->now_s, wanted);
	size_t i;

	if (n == 0)
		return;
	json_open_array(json, "symbols");
	for (i = 0; i < n; i++) {
		char hex[2 * BUILD_ID_MAX + 1];

		build_id_format(&search->build_ids.items[wanted[i]], hex);
		json_string(json, NULL, hex);
	}
	json_close(json);
}

static uint32_t live_window_s(struct server *server)
{
	size_t all;
	size_t late;

	agents_count(&server->agents, clock_realtime_ns() / NS_PER_SEC, &all, &late);
	return all > FEW ? LIVE_WINDOW_OF_MANY_S : LIVE_WINDOW_S;
}

static void put_answer(const struct ingest_result *result, int64_t offset_s,
		       const struct order_search *search, struct http_response *response)
{
	struct json json;

	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_u64(&json, "rows", result->rows);
	json_bool(&json, "duplicate", result->batches > 0 && result->duplicates == result->batches);
	json_i64(&json, "clock_offset_s", offset_s);
	json_bool(&json, "shifted", result->shifted);
	put_orders(search, &json);
	/* The live view would be a whole window late. */
	if (search->is_watched)
		json_u64(&json, "window_s", live_window_s(search->server));
	put_wanted(search, &json);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

/* Remembers what the agents of a window said. */
static void note_agents(struct server *server, const struct http_call *request,
			const struct ingest_input *input, const char *problem)
{
	const struct window *window = input->window;
	size_t i;

	if (window->part_count == 0)
		agents_pushed(&server->agents, window, request->client, input->clock_offset_s,
			      problem);
	for (i = 0; i < window->part_count; i++)
		agents_pushed(&server->agents, &window->parts[i], request->client,
			      input->clock_offset_s + window->parts[i].clock_offset_s, problem);
}

static int push_window(struct server *server, const struct http_call *request,
		       struct http_response *response, struct window *window, struct error *err)
{
	uint64_t now_ns = clock_realtime_ns();
	const char *id = http_call_header(request, "X-Wick-Window");
	struct order_search search = {
		.server = server, .host = window->host, .now_s = now_ns / NS_PER_SEC};
	struct bytes body = {0};
	struct ingest_result result = {0};
	struct ingest_input input = {
		.window = window,
		.host = request->client,
		.clock_offset_s = clock_offset(request, now_ns),
		.now_s = now_ns / NS_PER_SEC,
		.service_seen = find_order,
		.service_self = &search,
		/* Only of a sender that can upload symbols. */
		.build_id_seen = http_call_header(request, "X-Wick-Symbols") ? note_build_id : NULL,
	};
	int r = push_body(server, request, &body, err);

	if (r == 0)
		r = window_read(window, body.data, body.size, server->config->max_decoded_bytes,
				err);
	input.data = body.data;
	input.size = body.size;
	input.id = id ? id : window->id;
	if (window->part_count > 0)
		search.host = NULL;
	if (r == 0)
		r = push_store(server, &input, &search.is_watched, &result, err);
	bytes_fini(&body);
	push_count(server, &result, r);
	note_agents(server, request, &input, r < 0 ? err->text : NULL);
	if (r == 0) {
		naming_wake(server->naming);
		put_answer(&result, input.clock_offset_s, &search, response);
	}
	vec_fini(&search.build_ids);
	vec_fini(&search.orders);
	return r;
}

void route_push(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	struct window window = {0};
	struct error err = {0};
	int r = push_window(server, request, response, &window, &err);

	if (r < 0) {
		server_log(server, "window refused", "error", err.text);
		http_refuse_error(response, 0, &err);
	}
	window_fini(&window);
}
