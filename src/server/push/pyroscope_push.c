/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number.h"
#include "import/inflate.h"
#include "net/content_coding.h"
#include "server/push/multipart.h"
#include "server/push/push.h"
#include "server/push/push_message.h"
#include "server/routes.h"
#include "server/selector.h"
#include "store/store.h"

#define LABELS_MAX_SENT 64

/* The labels of a series in Pyroscope's protocols, and what they mean to us. */
struct sender {
	struct store_label labels[LABELS_MAX_SENT];
	size_t count;
	const char *service;
	const char *host;
	const char *release;
	char id[128];
};

static void sender_add(struct sender *sender, const char *name, const char *value)
{
	if (strcmp(name, "service_name") == 0 || strcmp(name, "service") == 0)
		sender->service = value;
	else if (strcmp(name, "host") == 0 || strcmp(name, "hostname") == 0)
		sender->host = value;
	else if (strcmp(name, "release") == 0 || strcmp(name, "version") == 0 ||
		 strcmp(name, "service_version") == 0)
		sender->release = value;
	else if (strncmp(name, "__", 2) != 0 && sender->count < LABELS_MAX_SENT)
		sender->labels[sender->count++] = (struct store_label){name, value};
}

static struct ingest_input input_of(const struct sender *sender, const struct http_call *request)
{
	return (struct ingest_input){
		.id = sender->id,
		.service = sender->service,
		.host = sender->host ? sender->host : request->client,
		.release = sender->release,
		.labels = sender->labels,
		.label_count = sender->count,
	};
}

/* pprof is mostly compressed, without saying so in a header. */
static int push_pprof(struct server *server, struct ingest_input input, const uint8_t *data,
		      size_t size, struct error *err)
{
	struct bytes plain = {0};
	struct push_foreign push = {.format = "pprof", .input = input};
	int r = content_decode(inflate_is_gzip(data, size) ? "gzip" : NULL, data, size,
			       server->config->max_decoded_bytes, &plain, err);

	push.data = plain.data;
	push.size = plain.size;
	if (r == 0)
		r = push_foreign(server, &push, err);
	bytes_fini(&plain);
	return r;
}

/* Our reader takes the first name of a line as the process: each gets one. */
static void add_process(const struct bytes *lines, const char *process, struct bytes *out)
{
	const char *at = (const char *)lines->data;
	const char *end = at + lines->size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		if (n > 0)
			bytes_printf(out, "%s;%.*s\n", process, (int)n, at);
		at += n + 1;
	}
}

static uint64_t number_of(const struct http_call *request, const char *name, uint64_t usual)
{
	const char *text = http_call_query(request, name);
	uint64_t value;

	return text && number_parse_u64(text, &value) == 0 ? value : usual;
}

/* Counts of samples become time; other units stay. */
static int push_folded(struct server *server, const struct http_call *request,
		       struct ingest_input input, const struct bytes *body, struct error *err)
{
	const char *units = http_call_query(request, "units");
	uint64_t rate = number_of(request, "sampleRate", 100);
	struct bytes text = {0};
	struct push_foreign push = {.format = "folded"};
	char process[128];
	size_t i;
	int r;

	if (!units || strcmp(units, "samples") == 0) {
		input.type = "cpu";
		input.unit = "nanoseconds";
		input.scale = 1e9 / (double)(rate > 0 ? rate : 100);
	} else {
		input.type = units;
		input.unit = strcmp(units, "objects") == 0 ? "count" : units;
	}
	(void)snprintf(process, sizeof(process), "%.100s", input.service); /* a cut name is fine */
	for (i = 0; process[i]; i++) /* what would end the name */
		if (process[i] == ';' || isspace((unsigned char)process[i]))
			process[i] = '_';
	add_process(body, process, &text);
	push.input = input;
	push.data = text.data;
	push.size = text.size;
	r = text.failed ? error_set(err, -ENOMEM, "out of memory")
			: push_foreign(server, &push, err);
	bytes_fini(&text);
	return r;
}

/* "app.cpu{label=value}": labels need no quotes here. Changes name. */
static void read_name(char *name, struct sender *sender)
{
	static const char *const suffixes[] = {".cpu", ".itimer", ".wall"};
	char *brace = strchr(name, '{');
	char *at = brace ? brace + 1 : NULL;
	char *pair;
	size_t i;

	if (brace)
		*brace = '\0';
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i]);

		if (strlen(name) > n && strcmp(name + strlen(name) - n, suffixes[i]) == 0)
			name[strlen(name) - n] = '\0';
	}
	sender->service = name;
	if (at)
		at[strcspn(at, "}")] = '\0';
	while (at && (pair = strsep(&at, ","))) {
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = '\0';
		while (*pair == ' ')
			pair++;
		if (*value == '"' && strlen(value) > 1) {
			value++;
			value[strlen(value) - 1] = '\0';
		}
		sender_add(sender, pair, value);
	}
}

static int ingest_body(struct server *server, const struct http_call *request,
		       struct sender *sender, const struct bytes *body, struct error *err)
{
	const char *format = http_call_query(request, "format");
	const char *type = http_call_header(request, "Content-Type");
	struct ingest_input input = input_of(sender, request);
	struct multipart_part part;

	input.time_s = number_of(request, "from", 0);
	if (input.time_s > UINT32_MAX) /* milliseconds or nanoseconds */
		input.time_s /= input.time_s > 1000000000000000 ? 1000000000 : 1000;
	if (type && multipart_find(type, body->data, body->size, "profile", &part))
		return push_pprof(server, input, part.data, part.size, err);
	if (format && strcmp(format, "pprof") == 0)
		return push_pprof(server, input, body->data, body->size, err);
	if (!format || strcmp(format, "folded") == 0 || strcmp(format, "lines") == 0 ||
	    strcmp(format, "groups") == 0)
		return push_folded(server, request, input, body, err);
	(void)error_set(err, -EOPNOTSUPP, "format %.40s is not supported", format);
	error_remedy(err, "send format=folded or format=pprof");
	return -EOPNOTSUPP;
}

void route_pyroscope_ingest(void *self, const struct http_call *request,
			    struct http_response *response)
{
	struct server *server = self;
	const char *told = http_call_query(request, "name");
	char name[4096];
	struct sender sender = {0};
	struct bytes body = {0};
	struct error err = {0};
	int r = push_body(server, request, &body, &err);

	if (r == 0 && (!told || !*told || strlen(told) >= sizeof(name))) {
		r = error_set(&err, -EINVAL, "the parameter name is missing, or too long");
		error_remedy(&err, "send /ingest?name=SERVICE&format=folded");
	}
	if (r == 0) {
		(void)snprintf(name, sizeof(name), "%s", told); /* it fits */
		read_name(name, &sender);
		r = ingest_body(server, request, &sender, &body, &err);
	}
	bytes_fini(&body);
	if (r < 0)
		http_refuse_error(response, 0, &err);
	else
		bytes_printf(&response->body, "{}\n");
}

/* A push_sample_fn: one profile of a push, with its labels. */
struct pushing {
	struct server *server;
	const struct http_call *request;
};

static int take_sample(void *self, const struct push_sample *sample, struct error *err)
{
	struct pushing *pushing = self;
	struct sender sender = {0};
	size_t i;

	for (i = 0; i < sample->label_count; i++)
		sender_add(&sender, sample->labels[i].name, sample->labels[i].value);
	if (!sender.service) {
		(void)error_set(err, -EINVAL, "a series has no label service_name");
		error_remedy(err, "add it: service_name is how profiles are found again");
		return -EINVAL;
	}
	(void)snprintf(sender.id, sizeof(sender.id), "%s", sample->id); /* a cut id is unique */
	return push_pprof(pushing->server, input_of(&sender, pushing->request), sample->data,
			  sample->size, err);
}

void route_pyroscope_push(void *self, const struct http_call *request,
			  struct http_response *response)
{
	struct server *server = self;
	struct pushing pushing = {server, request};
	struct bytes body = {0};
	struct error err = {0};
	const char *type = http_call_header(request, "Content-Type");
	bool is_json = type && strncasecmp(type, "application/json", 16) == 0;
	int r = push_body(server, request, &body, &err);

	if (r == 0)
		r = push_message_read(body.data, body.size, is_json, take_sample, &pushing, &err);
	bytes_fini(&body);
	if (r < 0) {
		http_refuse_error(response, 0, &err);
	} else if (is_json) {
		bytes_printf(&response->body, "{}");
	} else {
		response->type = "application/proto"; /* the empty message */
	}
}
