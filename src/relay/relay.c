/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/relay.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/delivery.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/number.h"
#include "net/http_server.h"
#include "relay/merge_step.h"
#include "relay/received_window.h"
#include "relay/relay_metrics.h"
#include "relay/relay_orders.h"

#define DRAIN_S 10
#define RETRY_S 30
/* What a window may decompress to. */
#define DECODED_MAX (MERGE_RAW_MAX)
#define BODY_MAX MERGE_STORED_MAX
#define NEVER_S (1ull << 40)
#define FAILURE_WAIT_MS 5000u
#define OFFSET_DIGITS 32 /* room for a mark and a number */

struct relay {
	struct relay_config config;
	struct http_access access;
	struct http_server *http;
	char *inbox_folder;
	char *outbox_folder;
	struct spool *inbox;
	pthread_mutex_t inbox_lock; /* held while a window is written: the inbox has one writer */
	struct delivery *outbox;
	struct relay_orders orders;
	uint64_t run; /* makes ids of merged windows unique */
	uint64_t merge_number;
	pthread_t merger;
	bool has_merger;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* With the lock: */
	bool is_stopping;
	bool is_failing;
	struct relay_stats stats;
};

static void tell(const struct relay *relay, const char *text)
{
	if (relay->config.notice)
		relay->config.notice(relay->config.self, text);
}

static void count(struct relay *relay, uint64_t *counter, uint64_t more)
{
	(void)pthread_mutex_lock(&relay->lock);
	*counter += more;
	(void)pthread_mutex_unlock(&relay->lock);
}

/* Receiving */

static uint64_t bytes_in(struct spool *spool)
{
	struct spool_stats stats;

	spool_stats(spool, &stats);
	return stats.bytes;
}

/* What the clock of a sender is behind ours, in seconds. */
static int64_t clock_offset(const struct http_call *request)
{
	const char *text = http_call_header(request, "X-Wick-Now");
	uint64_t theirs_ns;

	if (!text || number_parse_u64(text, &theirs_ns) < 0 || theirs_ns > INT64_MAX)
		return 0;
	return ((int64_t)clock_realtime_ns() - (int64_t)theirs_ns) / (int64_t)NS_PER_SEC;
}

/* Writes a window into the inbox; it is on disk when this returns 0. */
static int keep_window(struct relay *relay, const char *id, const struct http_call *request,
		       struct error *err)
{
	int fd;
	int r;

	(void)pthread_mutex_lock(&relay->inbox_lock);
	fd = spool_begin(relay->inbox, err);
	r = fd < 0 ? fd : outfile_write_all(fd, request->body, request->body_size);
	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = -errno;
	if (fd >= 0 && r < 0) {
		spool_abort(relay->inbox);
		(void)error_file(err, r, "cannot store a window in %s", relay->inbox_folder);
	}
	if (r == 0)
		r = spool_commit(relay->inbox, id, err);
	(void)pthread_mutex_unlock(&relay->inbox_lock);
	return r;
}

static int receive(struct relay *relay, const struct http_call *request,
		   struct received_window *window, struct error *err)
{
	char id[SPOOL_ID_MAX];
	int r = received_window_check(request->body, request->body_size, DECODED_MAX,
				      http_call_header(request, "X-Wick-Window"), window, err);

	if (r == 0 && strlen(window->id) > SPOOL_ID_MAX - OFFSET_DIGITS) {
		(void)error_set(err, -EINVAL, "the id of the window is too long");
		error_remedy(err, "give it one with at most %d characters",
			     SPOOL_ID_MAX - OFFSET_DIGITS);
		r = -EINVAL;
	}
	if (r < 0)
		return r;
	spool_join_id(id, window->id, clock_offset(request));
	return keep_window(relay, id, request, err);
}

static void refuse(struct relay *relay, const struct error *err, struct http_response *response)
{
	http_refuse_error(response, 0, err);
	count(relay, response->status < 500 ? &relay->stats.refused : &relay->stats.delayed, 1);
}

static void route_push(void *self, const struct http_call *request, struct http_response *response)
{
	struct relay *relay = self;
	struct received_window window = {0};
	struct error err = {0};

	if (bytes_in(relay->inbox) + request->body_size > relay->config.max_bytes / 2) {
		http_refuse(response, 503,
			    "the relay has no room: the server does not take windows");
		response->retry_after_s = RETRY_S;
		count(relay, &relay->stats.delayed, 1);
		return;
	}
	if (receive(relay, request, &window, &err) < 0) {
		refuse(relay, &err, response);
	} else {
		count(relay, &relay->stats.received, 1);
		count(relay, &relay->stats.received_bytes, request->body_size);
		relay_orders_answer(&relay->orders, window.host, clock_realtime_ns() / NS_PER_SEC,
				    &response->body);
	}
}

static void route_metrics(void *self, const struct http_call *request,
			  struct http_response *response)
{
	struct relay_stats stats;

	(void)request;
	relay_stats(self, &stats);
	response->type = "text/plain; version=0.0.4";
	relay_metrics_put(&response->body, &stats);
}

static void route_healthz(void *self, const struct http_call *request,
			  struct http_response *response)
{
	(void)self;
	(void)request;
	bytes_printf(&response->body, "{\"ok\": true}\n");
}

static const struct http_route routes[] = {
	{"POST", "/api/push", TOKEN_WRITE, route_push, .light = false},
	{"GET", "/metrics", TOKEN_READ, route_metrics, .light = true},
	{"GET", "/healthz", TOKEN_NONE, route_healthz, .light = true},
};

static unsigned int admit(void *self, struct http_call *request, struct http_response *response)
{
	struct relay *relay = self;

	return http_access_check(&relay->access, request, response);
}

static int start_http(struct relay *relay, struct error *err)
{
	struct http_server_config http = {
		HTTP_SERVER_LIMITS,
		.address = relay->config.access.address,
		.port = relay->config.port,
		.tls_cert = relay->access.tls_cert,
		.tls_key = relay->access.tls_key,
		.routes = routes,
		.route_count = sizeof(routes) / sizeof(routes[0]),
		.self = relay,
		.admit = admit,
	};

	http.max_body_bytes = BODY_MAX;
	http.max_bodies_bytes = 4 * BODY_MAX;
	http.max_connections = relay->config.max_connections;
	http.max_connections_of_address = relay->config.max_connections;
	http.requests_per_second = relay->config.requests_per_second;
	http.request_burst = 2 * relay->config.requests_per_second;
	return http_server_start(&http, &relay->http, err);
}

/* Merging */

/* Says once that it fails, and once that it works again. */
static void note_state(struct relay *relay, bool fails, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 64];
	bool was_failing;

	(void)pthread_mutex_lock(&relay->lock);
	was_failing = relay->is_failing;
	relay->is_failing = fails;
	(void)pthread_mutex_unlock(&relay->lock);
	if (fails && !was_failing) {
		(void)snprintf(text, sizeof(text), "windows cannot be merged: %s\n      %s",
			       err->text, err->remedy);
		tell(relay, text);
	} else if (!fails && was_failing) {
		tell(relay, "windows are merged again");
	}
}

/* Returns 1 if there may be more to merge, 0 if not, or a negative errno. */
static int merge_some(struct relay *relay, struct error *err)
{
	char id[SPOOL_ID_MAX];
	struct merge_step step = {.from = relay->inbox, .to = relay->outbox, .id = id};
	struct spool_stats outbox;
	struct pusher_stats pusher;
	int r;

	delivery_stats(relay->outbox, &outbox, &pusher);
	if (outbox.bytes > relay->config.max_bytes / 2)
		return 0; /* the server must take some first */
	(void)snprintf(id, sizeof(id), "relay.%.60s.%" PRIx64 "-%" PRIu64, relay->config.host,
		       relay->run, ++relay->merge_number);
	r = merge_step_run(&step, err);
	(void)pthread_mutex_lock(&relay->lock);
	relay->stats.merged += step.merged;
	relay->stats.passed += step.passed;
	relay->stats.merges += step.merged > 0;
	relay->stats.merged_bytes += step.bytes;
	(void)pthread_mutex_unlock(&relay->lock);
	return r;
}

static bool wait_for(struct relay *relay, uint64_t wait_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + wait_ms * NS_PER_MS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};
	bool goes_on;
	int r = 0;

	(void)pthread_mutex_lock(&relay->lock);
	while (!relay->is_stopping && r == 0)
		r = pthread_cond_timedwait(&relay->changed, &relay->lock, &until);
	goes_on = !relay->is_stopping;
	(void)pthread_mutex_unlock(&relay->lock);
	return goes_on;
}

static void *run_merger(void *self)
{
	struct relay *relay = self;
	uint64_t wait_ms = relay->config.gather_ms;

	while (wait_for(relay, wait_ms)) {
		struct error err = {0};
		int r;

		do {
			r = merge_some(relay, &err);
		} while (r > 0);
		note_state(relay, r < 0, &err);
		wait_ms = r < 0 && relay->config.gather_ms < FAILURE_WAIT_MS
				  ? FAILURE_WAIT_MS
				  : relay->config.gather_ms;
	}
	return NULL;
}

static int start_merger(struct relay *relay, struct error *err)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail */
	r = -pthread_create(&relay->merger, NULL, run_merger, relay);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail */
	relay->has_merger = r == 0;
	return r < 0 ? error_errno(err, r, "cannot start a thread to merge windows in %s",
				   relay->inbox_folder)
		     : 0;
}

/* Opening */

static void take_answer(void *self, const char *answer)
{
	struct relay *relay = self;

	relay_orders_keep(&relay->orders, answer, clock_realtime_ns() / NS_PER_SEC);
}

static void pass_notice(void *self, const char *text)
{
	tell(self, text);
}

static int open_spools(struct relay *relay, struct error *err)
{
	struct spool_config inbox = {.max_bytes = UINT64_MAX, /* route_push() keeps the limit */
				     .max_age_s = NEVER_S,
				     .notice = pass_notice,
				     .self = relay};
	struct delivery_config outbox = {.url = relay->config.url,
					 .format = PUSH_AS_WICK,
					 .host = relay->config.host,
					 .token = relay->config.token,
					 .ca_file = relay->config.ca_file,
					 .answered = take_answer};
	int r;

	if (asprintf(&relay->inbox_folder, "%s/inbox", relay->config.folder) < 0)
		relay->inbox_folder = NULL;
	if (asprintf(&relay->outbox_folder, "%s/outbox", relay->config.folder) < 0)
		relay->outbox_folder = NULL;
	if (!relay->inbox_folder || !relay->outbox_folder)
		return error_set(err, -ENOMEM, "out of memory");
	inbox.folder = relay->inbox_folder;
	r = spool_open(&inbox, &relay->inbox, err);
	outbox.spool = inbox;
	outbox.spool.folder = relay->outbox_folder;
	return r < 0 ? r : delivery_open(&outbox, &relay->outbox, err);
}

static void init(struct relay *relay, const struct relay_config *config)
{
	pthread_condattr_t attributes;

	relay->config = *config;
	relay->run = clock_realtime_ns();
	relay_orders_init(&relay->orders);
	/* None of these fails on Linux. */
	(void)pthread_mutex_init(&relay->lock, NULL);
	(void)pthread_mutex_init(&relay->inbox_lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&relay->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int relay_open(const struct relay_config *config, struct relay **ret, struct error *err)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	int r;

	if (!relay)
		return error_set(err, -ENOMEM, "out of memory");
	init(relay, config);
	r = http_access_open(&relay->access, &config->access, err);
	if (r == 0)
		r = open_spools(relay, err);
	if (r == 0)
		r = start_merger(relay, err);
	if (r == 0)
		r = start_http(relay, err);
	if (r < 0) {
		relay_close(relay);
		return r;
	}
	*ret = relay;
	return 0;
}

void relay_close(struct relay *relay)
{
	if (!relay)
		return;
	http_server_stop(relay->http, DRAIN_S);
	(void)pthread_mutex_lock(&relay->lock);
	relay->is_stopping = true;
	(void)pthread_cond_signal(&relay->changed);
	(void)pthread_mutex_unlock(&relay->lock);
	if (relay->has_merger)
		(void)pthread_join(relay->merger, NULL); /* it exists */
	delivery_close(relay->outbox);
	spool_close(relay->inbox);
	http_access_close(&relay->access);
	relay_orders_fini(&relay->orders);
	(void)pthread_cond_destroy(&relay->changed); /* nobody waits */
	(void)pthread_mutex_destroy(&relay->inbox_lock);
	(void)pthread_mutex_destroy(&relay->lock);
	free(relay->inbox_folder);
	free(relay->outbox_folder);
	free(relay);
}

uint16_t relay_port(const struct relay *relay)
{
	return http_server_port(relay->http);
}

int relay_reload(struct relay *relay, struct error *err)
{
	return http_access_reload(&relay->access, err);
}

void relay_tidy(struct relay *relay)
{
	http_server_tidy(relay->http);
}

void relay_stats(struct relay *relay, struct relay_stats *ret)
{
	(void)pthread_mutex_lock(&relay->lock);
	*ret = relay->stats;
	(void)pthread_mutex_unlock(&relay->lock);
	spool_stats(relay->inbox, &ret->inbox);
	delivery_stats(relay->outbox, &ret->outbox, &ret->pusher);
}
