/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/pull.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture.h"
#include "agent/process_facts.h"
#include "agent/service_pids.h"
#include "agent/service_rules.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/number.h"
#include "base/vec.h"
#include "net/http_server.h"

#define MAX_SECONDS 60u
#define USUAL_CPU_SECONDS 30u /* as in Go */
#define USUAL_HEAP_SECONDS 10u
#define MAX_CAPTURES 2u
#define MAX_CONNECTIONS 16u
#define RETRY_S 10u
#define PAUSED_RETRY_S 60u /* a pause of the breaker takes that long at least */
#define DRAIN_S 10u
#define MAX_BODY_BYTES 4096u /* nothing is sent to us */
#define REQUEST_TIMEOUT_S 10u
#define ANSWER_TIMEOUT_S 60u /* of up to 64 MB */

struct pull {
	struct pull_config config;
	struct http_access access;
	struct http_server *http;
	atomic_bool stop;
	atomic_bool paused;
	atomic_uint captures; /* under way */
	pthread_rwlock_t lock;
	struct service_rules *rules; /* with the lock */
};

/* What a request asks for. */
struct choice {
	uint32_t seconds;
	const char *service; /* NULL: by pid, or all */
	pid_t pids[CAPTURE_PIDS_MAX];
	size_t pid_count;
};

/* Returns false after a refusal, like all below. */
static bool read_seconds(const struct http_call *request, uint32_t usual, uint32_t *ret,
			 struct http_response *response)
{
	const char *text = http_call_query(request, "seconds");
	uint64_t seconds = usual;

	if (text &&
	    (number_parse_u64(text, &seconds) < 0 || seconds == 0 || seconds > MAX_SECONDS)) {
		http_refuse(response, 400, "seconds is a number from 1 to %u", MAX_SECONDS);
		return false;
	}
	*ret = (uint32_t)seconds;
	return true;
}

static bool find_service(struct pull *pull, struct choice *choice, struct http_response *response)
{
	size_t count;

	(void)pthread_rwlock_rdlock(&pull->lock);
	count = service_pids_find(pull->rules, choice->service, choice->pids, CAPTURE_PIDS_MAX);
	(void)pthread_rwlock_unlock(&pull->lock);
	if (count == 0) {
		http_refuse(response, 404, "no process of the service %.100s runs here",
			    choice->service);
		return false;
	}
	choice->pid_count = count < CAPTURE_PIDS_MAX ? count : CAPTURE_PIDS_MAX;
	return true;
}

static bool read_choice(struct pull *pull, const struct http_call *request, uint32_t usual_seconds,
			struct choice *ret, struct http_response *response)
{
	const char *pid = http_call_query(request, "pid");
	uint64_t number = 0;

	*ret = (struct choice){.service = http_call_query(request, "service")};
	if (!read_seconds(request, usual_seconds, &ret->seconds, response))
		return false;
	if (pid && ret->service) {
		http_refuse(response, 400, "give a service or a pid, not both");
		return false;
	}
	if (ret->service)
		return find_service(pull, ret, response);
	if (!pid)
		return true;
	if (number_parse_u64(pid, &number) < 0 || number == 0 || number > INT32_MAX) {
		http_refuse(response, 400, "pid is a number");
		return false;
	}
	ret->pids[ret->pid_count++] = (pid_t)number;
	return true;
}

static void answer_capture(struct pull *pull, const struct capture *capture,
			   struct http_response *response)
{
	struct error err = {0};
	int r = capture_run(capture, &pull->stop, &response->body, &err);

	response->type = "application/octet-stream";
	response->disposition = capture->kind == CAPTURE_CPU ? "attachment; filename=\"profile\""
							     : "attachment; filename=\"heap\"";
	if (r < 0)
		http_refuse_error(response, r == -ESRCH ? 404 : r == -ECANCELED ? 503 : 500, &err);
}

static void answer_profile(struct pull *pull, const struct http_call *request,
			   struct http_response *response)
{
	struct choice choice;
	struct capture capture = {.kind = CAPTURE_CPU,
				  .rate_hz = pull->config.rate_hz,
				  .overhead = pull->config.overhead,
				  .breaker = pull->config.breaker};

	if (!read_choice(pull, request, USUAL_CPU_SECONDS, &choice, response))
		return;
	capture.pids = choice.pids;
	capture.pid_count = choice.pid_count;
	capture.seconds = choice.seconds;
	answer_capture(pull, &capture, response);
}

/* Whether somebody has allowed probes in the processes of this service. */
static bool may_probe(const struct pull *pull, const char *service)
{
	for (size_t i = 0; i < pull->config.heap_count; i++)
		if (strcmp(pull->config.heap[i], service) == 0)
			return true;
	return false;
}

static bool check_heap(struct pull *pull, const struct choice *choice,
		       struct http_response *response)
{
	char service[PROCESS_FACT_MAX] = "";
	int r = 0;

	if (choice->pid_count == 0) {
		http_refuse(response, 400, "the heap of what? give a service or a pid");
		return false;
	}
	(void)pthread_rwlock_rdlock(&pull->lock);
	r = service_pids_name(pull->rules, choice->pids[0], service, sizeof(service));
	(void)pthread_rwlock_unlock(&pull->lock);
	if (r < 0) {
		http_refuse(response, 404, "process %d does not exist", (int)choice->pids[0]);
		return false;
	}
	if (may_probe(pull, service))
		return true;
	http_refuse(response, 403,
		    "the heap of %.100s is not recorded: its programs would run slower; the agent "
		    "was not started with --heap %.100s",
		    service, service);
	return false;
}

/* Of a service with several processes, one. */
static void answer_heap(struct pull *pull, const struct http_call *request,
			struct http_response *response)
{
	struct choice choice;
	struct capture capture = {.kind = CAPTURE_HEAP,
				  .sample_bytes = pull->config.heap_sample_bytes};

	if (!read_choice(pull, request, USUAL_HEAP_SECONDS, &choice, response) ||
	    !check_heap(pull, &choice, response))
		return;
	capture.pids = choice.pids;
	capture.pid_count = 1;
	capture.seconds = choice.seconds;
	answer_capture(pull, &capture, response);
}

/* Answers if there is room. Finding the processes of a service is work, too: it comes later. */
static void answer_in_turn(struct pull *pull, const struct http_call *request,
			   struct http_response *response,
			   void (*answer)(struct pull *pull, const struct http_call *request,
					  struct http_response *response))
{
	if (atomic_load(&pull->paused)) {
		http_refuse(response, 503,
			    "the agent has paused: the host is busy, or memory is short");
		response->retry_after_s = PAUSED_RETRY_S;
		return;
	}
	if (atomic_fetch_add(&pull->captures, 1) >= MAX_CAPTURES) {
		http_refuse(response, 429, "%u recordings are under way", MAX_CAPTURES);
		response->retry_after_s = RETRY_S;
	} else {
		answer(pull, request, response);
	}
	(void)atomic_fetch_sub(&pull->captures, 1);
}

static void route_profile(void *self, const struct http_call *request,
			  struct http_response *response)
{
	answer_in_turn(self, request, response, answer_profile);
}

static void route_heap(void *self, const struct http_call *request, struct http_response *response)
{
	answer_in_turn(self, request, response, answer_heap);
}

static void route_index(void *self, const struct http_call *request, struct http_response *response)
{
	(void)self;
	(void)request;
	response->type = "text/plain; charset=utf-8";
	bytes_printf(&response->body,
		     "profile  time on CPUs: ?seconds=1..%u, &service=NAME or &pid=NUMBER\n"
		     "heap     allocations, of services that --heap names: the same parameters\n",
		     MAX_SECONDS);
}

static void route_metrics(void *self, const struct http_call *request,
			  struct http_response *response)
{
	struct pull *pull = self;

	(void)request;
	response->type = "text/plain; version=0.0.4; charset=utf-8";
	pull->config.metrics(pull->config.self, &response->body);
}

static void route_healthz(void *self, const struct http_call *request,
			  struct http_response *response)
{
	(void)self;
	(void)request;
	bytes_printf(&response->body, "{\"ok\": true}\n");
}

static const struct http_route routes[] = {
	{"GET", "/debug/pprof/", TOKEN_READ, route_index, true},
	{"GET", "/debug/pprof/profile", TOKEN_READ, route_profile, false},
	{"GET", "/debug/pprof/heap", TOKEN_READ, route_heap, false},
	{"GET", "/metrics", TOKEN_READ, route_metrics, true},
	{"GET", "/healthz", TOKEN_NONE, route_healthz, true},
};

static unsigned int admit(void *self, struct http_call *request, struct http_response *response)
{
	struct pull *pull = self;

	return http_access_check(&pull->access, request, response);
}

static int start(struct pull *pull, struct error *err)
{
	struct http_server_config http = {
		.address = pull->config.access.address,
		.port = pull->config.port,
		.tls_cert = pull->access.tls_cert,
		.tls_key = pull->access.tls_key,
		.max_body_bytes = MAX_BODY_BYTES,
		.max_bodies_bytes = 4 * MAX_BODY_BYTES,
		.max_connections = MAX_CONNECTIONS,
		.max_connections_of_address = MAX_CONNECTIONS / 2, /* one leaves some to others */
		.max_running = MAX_CAPTURES + 2,
		.timeout_s = 2 * MAX_SECONDS,
		.request_timeout_s = REQUEST_TIMEOUT_S,
		.answer_timeout_s = ANSWER_TIMEOUT_S,
		.requests_per_second = 20,
		.request_burst = 40,
		.routes = routes,
		.route_count = ARRAY_SIZE(routes),
		.self = pull,
		.admit = admit,
	};
	sigset_t all;
	sigset_t before;
	int r;

	/* Signals are for the thread that samples. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail */
	r = http_server_start(&http, &pull->http, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail */
	return r;
}

int pull_open(const struct pull_config *config, struct pull **ret, struct error *err)
{
	struct pull *pull = calloc(1, sizeof(*pull));
	int r;

	if (!pull)
		return error_set(err, -ENOMEM, "out of memory");
	pull->config = *config;
	(void)pthread_rwlock_init(&pull->lock, NULL); /* never fails on Linux */
	r = http_access_open(&pull->access, &config->access, err);
	if (r == 0)
		r = service_rules_new(config->rules, config->rule_count, &pull->rules, err);
	if (r == 0)
		r = start(pull, err);
	if (r < 0)
		pull_close(pull);
	else
		*ret = pull;
	return r;
}

void pull_pause(struct pull *pull, bool paused)
{
	if (pull)
		atomic_store(&pull->paused, paused);
}

void pull_tidy(struct pull *pull)
{
	if (pull)
		http_server_tidy(pull->http);
}

void pull_close(struct pull *pull)
{
	if (!pull)
		return;
	atomic_store(&pull->stop, true);
	http_server_stop(pull->http, DRAIN_S);
	http_access_close(&pull->access);
	service_rules_free(pull->rules);
	(void)pthread_rwlock_destroy(&pull->lock);
	free(pull);
}

uint16_t pull_port(const struct pull *pull)
{
	return http_server_port(pull->http);
}

int pull_reload(struct pull *pull, const char *const *rules, size_t rule_count, struct error *err)
{
	struct service_rules *fresh = NULL;
	struct service_rules *old;
	int r = service_rules_new(rules, rule_count, &fresh, err);

	if (r == 0)
		r = http_access_reload(&pull->access, err);
	if (r < 0) {
		service_rules_free(fresh);
		return r;
	}
	(void)pthread_rwlock_wrlock(&pull->lock);
	old = pull->rules;
	pull->rules = fresh;
	(void)pthread_rwlock_unlock(&pull->lock);
	service_rules_free(old);
	return 0;
}
