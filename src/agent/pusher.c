/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/pusher.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/push_policy.h"
#include "agent/push_request.h"
#include "agent/spool.h"
#include "agent/watch_order.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "net/http_client.h"

#define NICE 10 /* sending can wait for everything else */
#define POLL_NS (100 * NS_PER_MS)
/* An order for shorter windows holds this long: each answer repeats it. */
#define WATCH_NS (90 * NS_PER_SEC)

/* How far the window that is being sent has come: a part of its requests may be done. */
struct progress {
	uint64_t number; /* of the window in the spool */
	size_t done;     /* requests */
	size_t refused;  /* of these */
};

struct pusher {
	struct pusher_config config;
	char *url;                /* without a slash at the end */
	struct progress progress; /* of the thread */
	struct http_client *client;
	struct symbol_sender *symbols; /* NULL: none are sent */
	pthread_t thread;
	atomic_bool cancel; /* end the request that is under way */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* With the lock: */
	bool is_woken;
	bool is_stopping; /* end when there is nothing to send */
	bool is_over;     /* the thread has ended */
	bool has_order;
	struct burst_order order;
	uint32_t window_s; /* see watch_order.h; 0: was never asked for */
	uint64_t window_asked_ns;
	struct pusher_stats stats;
};

static void tell(const struct pusher *pusher, const char *text)
{
	if (pusher->config.notice)
		pusher->config.notice(pusher->config.self, text);
}

static void tell_error(const struct pusher *pusher, const char *what, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 200];

	(void)snprintf(text, sizeof(text), "%s%s\n      %s", what, err->text, err->remedy);
	tell(pusher, text);
}

/* Says once that sending fails, and once that it works again. */
static void note_state(struct pusher *pusher, bool fails, const struct error *err)
{
	bool was_failing;

	(void)pthread_mutex_lock(&pusher->lock);
	was_failing = pusher->stats.is_failing;
	pusher->stats.is_failing = fails;
	pusher->stats.failures += fails;
	(void)pthread_mutex_unlock(&pusher->lock);
	if (fails && !was_failing)
		tell_error(pusher, "windows are kept until they can be sent: ", err);
	else if (!fails && was_failing)
		tell(pusher, "windows are sent again");
}

static void take_answer(struct pusher *pusher, const struct http_answer *answer)
{
	const char *text = (const char *)answer->body.data;
	uint32_t window_s = watch_order_parse(text);
	struct burst_order order;
	bool has_order = burst_order_parse(text, &order);

	if (pusher->config.answered)
		pusher->config.answered(pusher->config.self, (const char *)answer->body.data);
	if (pusher->symbols)
		symbol_sender_ask(pusher->symbols, text);
	(void)pthread_mutex_lock(&pusher->lock);
	if (has_order) {
		pusher->order = order;
		pusher->has_order = true;
	}
	if (window_s > 0) {
		pusher->window_s = window_s;
		pusher->window_asked_ns = clock_monotonic_ns();
	}
	(void)pthread_mutex_unlock(&pusher->lock);
}

static void count_sent(struct pusher *pusher, const struct spool_item *item, bool stored)
{
	(void)pthread_mutex_lock(&pusher->lock);
	pusher->stats.sent += stored;
	pusher->stats.sent_bytes += stored ? item->bytes : 0;
	pusher->stats.refused += !stored;
	(void)pthread_mutex_unlock(&pusher->lock);
}

/* The first line of what a server says about a failure. */
static void explain(const struct http_answer *answer, const char *url, struct error *err)
{
	int length = (int)strcspn((const char *)answer->body.data, "\r\n");

	(void)error_set(err, -EPROTO, "%s answered %d: %.*s", url, answer->status,
			length < 200 ? length : 200, (const char *)answer->body.data);
	error_remedy(
		err,
		answer->status == 401 || answer->status == 403
			? "set the token in WICK_TOKEN, or name a file that has it: --token-file"
			: "see the log of the server");
}

/* An answer may take a window, but not all of it. */
static void note_rejected(struct pusher *pusher, const struct http_answer *answer)
{
	char why[200];
	char text[300];
	uint64_t rejected =
		push_request_rejected(pusher->config.format, &answer->body, why, sizeof(why));

	if (rejected == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s did not store %" PRIu64 " profiles of a window: %s",
		       pusher->url, rejected, why); /* a cut text is fine */
	tell(pusher, text);
}

/* Acts on an answer. Returns 0 if the request is done with, else a negative errno. */
static int heed(struct pusher *pusher, const struct http_answer *answer, struct error *err)
{
	enum push_verdict verdict = push_verdict_of(answer->status);

	if (verdict == PUSH_LATER) {
		explain(answer, pusher->url, err);
		return -EAGAIN;
	}
	if (verdict == PUSH_REFUSED) {
		explain(answer, pusher->url, err);
		tell_error(pusher, "a window was refused and is dropped: ", err);
		pusher->progress.refused++;
	} else {
		note_rejected(pusher, answer);
	}
	if (pusher->config.format == PUSH_AS_WICK)
		take_answer(pusher, answer);
	pusher->progress.done++;
	note_state(pusher, false, NULL);
	return 0;
}

#define HEADERS_MAX 8

static int send_request(struct pusher *pusher, const struct push_window *window,
			const struct push_request *part, uint64_t *ret_after_s, struct error *err)
{
	char own_id[SPOOL_ID_MAX];
	char id[SPOOL_ID_MAX + 32];
	char now[64];
	int64_t offset_s = spool_split_id(window->id, own_id);
	const char *headers[HEADERS_MAX] = {id, now};
	size_t count = pusher->config.format == PUSH_AS_WICK ? 2 : 0;
	SCOPED(mem) char *url = NULL;
	struct http_answer answer = {0};
	struct http_request request = {.method = "POST",
				       .headers = headers,
				       .body = part->body.size > 0 ? part->body.data : window->data,
				       .body_bytes =
					       part->body.size > 0 ? part->body.size : window->size,
				       .cancel = &pusher->cancel};
	int r;

	for (size_t i = 0; part->headers[i] && count < HEADERS_MAX - 2; i++)
		headers[count++] = part->headers[i];
	if (pusher->symbols)
		headers[count++] = "X-Wick-Symbols: 1";
	headers[count] = NULL;
	(void)snprintf(id, sizeof(id), "X-Wick-Window: %s", own_id);
	(void)snprintf(now, sizeof(now), "X-Wick-Now: %" PRIu64,
		       clock_realtime_ns() - (uint64_t)(offset_s * (int64_t)NS_PER_SEC));
	if (asprintf(&url, "%s%s", pusher->url, part->path) < 0) {
		url = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	request.url = url;
	r = http_client_send(pusher->client, &request, &answer, err);
	if (r == 0)
		r = heed(pusher, &answer, err);
	*ret_after_s = answer.retry_after_s;
	log_info("window %s, %zu bytes: status %d", window->id, request.body_bytes, answer.status);
	http_answer_fini(&answer);
	return r;
}

/* Sends what is left of a window. */
static int send_window(struct pusher *pusher, const struct spool_item *item,
		       const struct bytes *data, uint64_t *ret_after_s, struct error *err)
{
	struct push_window window = {.data = data->data,
				     .size = data->size,
				     .id = item->id,
				     .host = pusher->config.host};
	struct progress *progress = &pusher->progress;
	struct push_requests requests;
	int r = push_requests_make(&requests, pusher->config.format, &window, err);

	if (progress->number != item->number)
		*progress = (struct progress){.number = item->number};
	if (r < 0 && r != -ENOMEM) { /* it will not become better */
		tell_error(pusher, "a window cannot be sent and is dropped: ", err);
		progress->refused++;
		r = 0;
	}
	while (r == 0 && progress->done < requests.items.count)
		r = send_request(pusher, &window, &requests.items.items[progress->done],
				 ret_after_s, err);
	push_requests_fini(&requests);
	if (r < 0)
		return r;
	spool_remove(pusher->config.spool, item);
	count_sent(pusher, item, progress->refused == 0);
	return 0;
}

/* Sends one window. Returns 0, or a negative errno to try again later. */
static int send_one(struct pusher *pusher, const struct spool_item *item, uint64_t *ret_after_s,
		    struct error *err)
{
	struct bytes data = {0};
	int r = spool_read(pusher->config.spool, item, &data, err);

	if (r == 0) {
		r = send_window(pusher, item, &data, ret_after_s, err);
	} else if (r == -EBADMSG) {
		tell_error(pusher, "", err);
		r = 0; /* the next one */
	} else if (r == -ENOENT) {
		r = 0; /* the limits of the spool removed it */
	}
	bytes_fini(&data);
	return r;
}

/*
 * Waits for a window, but not longer than idle_ms (0: any time), or after a failure for wait_ms.
 * Returns whether to go on.
 */
static bool wait_for_work(struct pusher *pusher, uint64_t wait_ms, uint64_t idle_ms)
{
	uint64_t limit_ms = wait_ms > 0 ? wait_ms : idle_ms;
	uint64_t until_ns = clock_monotonic_ns() + limit_ms * NS_PER_MS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};
	bool goes_on;
	int r = 0;

	(void)pthread_mutex_lock(&pusher->lock);
	while (!pusher->is_stopping && r == 0 && (wait_ms > 0 || !pusher->is_woken))
		r = limit_ms > 0 ? pthread_cond_timedwait(&pusher->changed, &pusher->lock, &until)
				 : pthread_cond_wait(&pusher->changed, &pusher->lock);
	pusher->is_woken = false;
	goes_on = !pusher->is_stopping;
	(void)pthread_mutex_unlock(&pusher->lock);
	return goes_on;
}

/* Sends all windows. Returns how long to wait before trying again; 0: there are none. */
static uint64_t send_all(struct pusher *pusher, uint32_t *failures, unsigned int *seed)
{
	struct spool_item item;

	while (!atomic_load(&pusher->cancel) && spool_first(pusher->config.spool, &item)) {
		struct error err = {0};
		uint64_t after_s = 0;

		if (send_one(pusher, &item, &after_s, &err) == 0) {
			*failures = 0;
			continue;
		}
		if (atomic_load(&pusher->cancel))
			return 0;
		note_state(pusher, true, &err);
		return push_wait_ms(++*failures, after_s, (uint32_t)rand_r(seed));
	}
	return 0;
}

/* Symbols are sent when no window waits. Returns after how long to go on; 0: nothing is left. */
static uint64_t send_symbols(struct pusher *pusher)
{
	uint64_t wait_ms;

	if (!pusher->symbols)
		return 0;
	wait_ms = symbol_sender_run(pusher->symbols, pusher->client, &pusher->cancel);
	(void)pthread_mutex_lock(&pusher->lock);
	pusher->stats.symbols = symbol_sender_stats(pusher->symbols);
	(void)pthread_mutex_unlock(&pusher->lock);
	return wait_ms;
}

static void *run(void *self)
{
	struct pusher *pusher = self;
	unsigned int seed = (unsigned int)clock_monotonic_ns();
	uint32_t failures = 0;
	uint64_t wait_ms;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(),
			  NICE); /* else it is as urgent as the rest */
	do {
		wait_ms = send_all(pusher, &failures, &seed);
	} while (wait_for_work(pusher, wait_ms, wait_ms == 0 ? send_symbols(pusher) : 0));
	(void)send_all(pusher, &failures, &seed); /* what came last */
	(void)pthread_mutex_lock(&pusher->lock);
	pusher->is_over = true;
	(void)pthread_mutex_unlock(&pusher->lock);
	return NULL;
}

static void release(struct pusher *pusher)
{
	http_client_free(pusher->client);
	symbol_sender_free(pusher->symbols);
	(void)pthread_cond_destroy(&pusher->changed); /* nobody waits */
	(void)pthread_mutex_destroy(&pusher->lock);
	free(pusher->url);
	free(pusher);
}

/* Signals are for the thread that samples. */
static int start_thread(struct pusher *pusher, struct error *err)
{
	sigset_t all;
	sigset_t before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail */
	r = -pthread_create(&pusher->thread, NULL, run, pusher);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail */
	return r < 0 ? error_errno(err, r, "cannot start a thread to send to %s", pusher->url) : 0;
}

static int prepare_symbols(struct pusher *pusher, struct error *err)
{
	struct symbol_sender_config config = {
		.files = pusher->config.files,
		.url = pusher->url,
		.symbol_paths = pusher->config.symbol_paths,
		.symbol_path_count = pusher->config.symbol_path_count,
		.bytes_per_minute = pusher->config.symbol_bytes_per_minute,
	};

	if (!config.files)
		return 0;
	pusher->symbols = symbol_sender_new(&config);
	return pusher->symbols ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int prepare(struct pusher *pusher, struct error *err)
{
	struct http_client_config client = {.token = pusher->config.token,
					    .ca_file = pusher->config.ca_file};
	const char *base = pusher->config.url;
	size_t length = strlen(base);
	int r = http_url_check(base, err);

	if (r < 0)
		return r;
	while (length > 0 && base[length - 1] == '/')
		length--;
	pusher->url = strndup(base, length);
	if (!pusher->url)
		return error_set(err, -ENOMEM, "out of memory");
	r = prepare_symbols(pusher, err);
	if (r < 0)
		return r;
	r = http_client_new(&client, &pusher->client, err);
	if (r < 0)
		return r;
	return start_thread(pusher, err);
}

int pusher_start(const struct pusher_config *config, struct pusher **ret, struct error *err)
{
	struct pusher *pusher = calloc(1, sizeof(*pusher));
	pthread_condattr_t attributes;
	int r;

	if (!pusher)
		return error_set(err, -ENOMEM, "out of memory");
	pusher->config = *config;
	/* None of these fails on Linux. */
	(void)pthread_mutex_init(&pusher->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pusher->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	r = prepare(pusher, err);
	if (r < 0)
		release(pusher);
	else
		*ret = pusher;
	return r;
}

void pusher_stop(struct pusher *pusher, uint64_t patience_ms)
{
	uint64_t end_ns = clock_monotonic_ns() + patience_ms * NS_PER_MS;
	bool is_over = false;

	if (!pusher)
		return;
	(void)pthread_mutex_lock(&pusher->lock);
	pusher->is_stopping = true;
	(void)pthread_cond_signal(&pusher->changed);
	(void)pthread_mutex_unlock(&pusher->lock);
	while (!is_over && clock_monotonic_ns() < end_ns) {
		(void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
		(void)pthread_mutex_lock(&pusher->lock);
		is_over = pusher->is_over;
		(void)pthread_mutex_unlock(&pusher->lock);
	}
	atomic_store(&pusher->cancel, true);
	(void)pthread_join(pusher->thread, NULL); /* it exists */
	release(pusher);
}

void pusher_wake(struct pusher *pusher)
{
	(void)pthread_mutex_lock(&pusher->lock);
	pusher->is_woken = true;
	(void)pthread_cond_signal(&pusher->changed);
	(void)pthread_mutex_unlock(&pusher->lock);
}

bool pusher_take_order(struct pusher *pusher, struct burst_order *ret)
{
	bool has_order;

	(void)pthread_mutex_lock(&pusher->lock);
	has_order = pusher->has_order;
	if (has_order)
		*ret = pusher->order;
	pusher->has_order = false;
	(void)pthread_mutex_unlock(&pusher->lock);
	return has_order;
}

uint32_t pusher_window_s(struct pusher *pusher)
{
	uint32_t window_s;

	(void)pthread_mutex_lock(&pusher->lock);
	window_s = clock_monotonic_ns() - pusher->window_asked_ns < WATCH_NS ? pusher->window_s : 0;
	(void)pthread_mutex_unlock(&pusher->lock);
	return window_s;
}

void pusher_stats(struct pusher *pusher, struct pusher_stats *ret)
{
	(void)pthread_mutex_lock(&pusher->lock);
	*ret = pusher->stats;
	(void)pthread_mutex_unlock(&pusher->lock);
}
