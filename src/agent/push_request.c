/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/push_request.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "agent/window_series.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "export/export.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "export/pyroscope_name.h"
#include "import/protobuf_reader.h"
#include "model/entity.h"
#include "model/profile.h"
#include "net/http_client.h"

/* push.v1.PushRequest, as Pyroscope's own clients send it. */
enum push_field { PUSH_SERIES = 1 };
enum series_field { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum label_field { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum sample_field { SAMPLE_RAW_PROFILE = 1, SAMPLE_ID = 2 };
/* ExportProfilesServiceResponse of OpenTelemetry. */
enum answer_field { ANSWER_PARTIAL = 1 };
enum partial_field { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };

static const char *const recording_headers[] = {"Content-Type: application/octet-stream", NULL};
static const char *const proto_headers[] = {"Content-Type: application/proto", NULL};
static const char *const otlp_headers[] = {"Content-Type: application/x-protobuf",
					   "Content-Encoding: gzip", NULL};

struct making {
	const struct push_window *window;
	struct push_requests *requests;
	struct bytes body; /* push.v1: the request so far */
	uint64_t series;   /* so far */
};

/* Takes over the body. */
static int add_request(struct push_requests *requests, const char *path, const char *const *headers,
		       struct bytes *body, struct error *err)
{
	struct push_request request = {.path = strdup(path), .headers = headers, .body = *body};

	*body = (struct bytes){0};
	if (request.path && !request.body.failed && vec_push(&requests->items, request) == 0)
		return 0;
	free(request.path);
	bytes_fini(&request.body);
	return error_set(err, -ENOMEM, "out of memory");
}

/* Pyroscope's names of labels have letters, digits and underscores. */
static void put_name(struct bytes *out, const char *key)
{
	if (isdigit((unsigned char)*key))
		bytes_put_u8(out, '_');
	for (; *key; key++)
		bytes_put_u8(out, (uint8_t)(isalnum((unsigned char)*key) ? *key : '_'));
}

static void put_label(struct bytes *series, const char *key, const char *value)
{
	struct bytes name = {0};
	struct bytes label = {0};

	if (strncmp(key, "__", 2) == 0) /* theirs */
		bytes_put(&name, key, strlen(key));
	else
		put_name(&name, key);
	protobuf_bytes(&label, LABEL_NAME, name.data, name.size);
	protobuf_string(&label, LABEL_VALUE, value);
	series->failed = series->failed || name.failed || label.failed;
	protobuf_message(series, SERIES_LABELS, &label);
	bytes_fini(&name);
	bytes_fini(&label);
}

static const char *label_of(const struct window_series *series, const char *key)
{
	for (size_t i = 0; i < series->label_count; i++)
		if (strcmp(series->labels[i].key, key) == 0)
			return series->labels[i].value;
	return NULL;
}

static const char *service_of(const struct window_series *series)
{
	const char *service = label_of(series, "service");

	return service && *service ? service : "unknown";
}

/* The form of a UUID; the same when the window is sent again, so that a server can tell. */
static void put_id(struct making *making, struct bytes *sample)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(making->window->id, strlen(making->window->id),
						   making->series);
	char text[40];

	(void)snprintf(text, sizeof(text),
		       "%08" PRIx32 "-%04" PRIx32 "-8%03" PRIx32 "-8%03" PRIx32 "-%012" PRIx64,
		       (uint32_t)(hash.high64 >> 32), (uint32_t)(hash.high64 >> 16 & 0xffff),
		       (uint32_t)(hash.high64 & 0xfff), (uint32_t)(hash.low64 >> 48 & 0xfff),
		       hash.low64 & 0xffffffffffff); /* it fits */
	protobuf_string(sample, SAMPLE_ID, text);
}

static int export(const char *format, const struct profile *profile, const char *host,
		  struct bytes *out, struct error *err)
{
	struct export_config config = {.value = EXPORT_DEFAULT_VALUE, .host = host};

	return exporter_write(exporter_find(format), profile, &config, out, err);
}

/* A window_series_fn: adds a series to the request. */
static int push_series(void *self, const struct window_series *series, struct error *err)
{
	struct making *making = self;
	struct bytes pprof = {0};
	struct bytes sample = {0};
	struct bytes out = {0};
	int r = export("pprof", series->profile, NULL, &pprof, err);

	put_label(&out, "__name__", pyroscope_name(series->type));
	put_label(&out, "service_name", service_of(series));
	if (!label_of(series, "host"))
		put_label(&out, "host", making->window->host);
	for (size_t i = 0; i < series->label_count; i++)
		if (strcmp(series->labels[i].key, "service") != 0)
			put_label(&out, series->labels[i].key, series->labels[i].value);
	protobuf_bytes(&sample, SAMPLE_RAW_PROFILE, pprof.data, pprof.size);
	put_id(making, &sample);
	protobuf_message(&out, SERIES_SAMPLES, &sample);
	making->series++;
	if (r == 0 && (pprof.failed || sample.failed || out.failed))
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		protobuf_message(&making->body, PUSH_SERIES, &out);
	bytes_fini(&pprof);
	bytes_fini(&sample);
	bytes_fini(&out);
	return r;
}

/* A value in "NAME{key=value,…}", where nothing can be escaped. */
static void put_plain(struct bytes *out, const char *text)
{
	for (; *text; text++)
		bytes_put_u8(out, (uint8_t)(strchr("{},=\"", *text) ? '_' : *text));
}

static void put_pair(struct bytes *out, const char *key, const char *value, const char *before)
{
	bytes_printf(out, "%s", before);
	put_name(out, key);
	bytes_put_u8(out, '=');
	put_plain(out, value);
}

static void put_ingest_name(const struct making *making, const struct window_series *series,
			    struct bytes *out)
{
	const char *before = "{";

	put_plain(out, service_of(series));
	if (!label_of(series, "host")) {
		put_pair(out, "host", making->window->host, before);
		before = ",";
	}
	for (size_t i = 0; i < series->label_count; i++) {
		if (strcmp(series->labels[i].key, "service") == 0)
			continue;
		put_pair(out, series->labels[i].key, series->labels[i].value, before);
		before = ",";
	}
	bytes_printf(out, "}");
	bytes_put_u8(out, '\0');
}

/* A window_series_fn: a request of its own. */
static int ingest_series(void *self, const struct window_series *series, struct error *err)
{
	struct making *making = self;
	const struct profile *profile = series->profile;
	uint64_t from_s = profile->start_realtime_ns / NS_PER_SEC;
	uint64_t until_s = from_s + (profile->duration_ns + NS_PER_SEC - 1) / NS_PER_SEC;
	struct bytes name = {0};
	struct bytes path = {0};
	struct bytes pprof = {0};
	int r = export("pprof", profile, NULL, &pprof, err);

	put_ingest_name(making, series, &name);
	bytes_printf(&path, "/ingest?format=pprof&spyName=wick&from=%" PRIu64 "&until=%" PRIu64,
		     from_s, until_s);
	bytes_printf(&path, "&name=");
	if (!name.failed)
		http_url_put(&path, (const char *)name.data);
	bytes_put_u8(&path, '\0');
	if (r == 0 && (name.failed || path.failed))
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = add_request(making->requests, (const char *)path.data, recording_headers,
				&pprof, err);
	bytes_fini(&name);
	bytes_fini(&path);
	bytes_fini(&pprof);
	return r;
}

static int make_pyroscope(struct making *making, const struct profile *profile, struct error *err)
{
	int r = window_each_series(profile, push_series, making, err);

	if (r == 0 && making->body.size > 0)
		r = add_request(making->requests, "/push.v1.PusherService/Push", proto_headers,
				&making->body, err);
	bytes_fini(&making->body);
	return r;
}

static int make_otlp(struct making *making, const struct profile *profile, struct error *err)
{
	struct bytes plain = {0};
	struct bytes body = {0};
	struct gzip *gzip;
	int r = profile->entries.count > 0
			? export("otlp", profile, making->window->host, &plain, err)
			: 0;

	if (r < 0 || plain.size == 0) {
		bytes_fini(&plain);
		return r;
	}
	gzip = gzip_new(&body);
	if (gzip && !plain.failed) {
		gzip_put(gzip, &plain);
		gzip_finish(gzip);
	} else {
		body.failed = true;
	}
	gzip_free(gzip);
	bytes_fini(&plain);
	return add_request(making->requests, "/v1development/profiles", otlp_headers, &body, err);
}

int push_requests_make(struct push_requests *requests, enum push_format format,
		       const struct push_window *window, struct error *err)
{
	struct making making = {.window = window, .requests = requests};
	SCOPED(profile) struct profile *profile = NULL;
	int r;

	*requests = (struct push_requests){0};
	if (format == PUSH_AS_WICK)
		return add_request(requests, "/api/push", recording_headers, &making.body, err);
	r = window_load(window->data, window->size, &profile, err);
	if (r < 0)
		return r;
	if (format == PUSH_AS_PYROSCOPE)
		return make_pyroscope(&making, profile, err);
	if (format == PUSH_AS_PYROSCOPE_INGEST)
		return window_each_series(profile, ingest_series, &making, err);
	return make_otlp(&making, profile, err);
}

void push_requests_fini(struct push_requests *requests)
{
	for (size_t i = 0; i < requests->items.count; i++) {
		free(requests->items.items[i].path);
		bytes_fini(&requests->items.items[i].body);
	}
	vec_fini(&requests->items);
}

uint64_t push_request_rejected(enum push_format format, const struct bytes *answer, char *ret_why,
			       size_t size)
{
	struct cursor in = cursor_of(answer->data, answer->size);
	struct protobuf_field field;
	struct protobuf_field inner;
	uint64_t rejected = 0;

	(void)snprintf(ret_why, size, "no reason given");
	while (format == PUSH_AS_OTLP && protobuf_next(&in, &field))
		while (field.number == ANSWER_PARTIAL && field.packed &&
		       protobuf_next(&field.body, &inner)) {
			if (inner.number == PARTIAL_REJECTED && !inner.packed)
				rejected = inner.value;
			if (inner.number == PARTIAL_MESSAGE && inner.packed &&
			    cursor_left(&inner.body) > 0)
				(void)snprintf(
					ret_why, size, "%.*s", (int)cursor_left(&inner.body),
					(const char *)inner.body.at); /* a cut text is fine */
		}
	return rejected;
}
