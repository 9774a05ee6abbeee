/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "server/query.h"
#include "server/routes.h"
#include "server/source.h"

/* Lists beyond this are cut; "more" says so. */
#define LIST_MAX 10000u
#define STEPS_MAX 11000u

/* A list on its way into an answer. */
struct lister {
	struct json json;
	size_t count;
	size_t limit;
	bool self;   /* items have a value of their own */
	bool detail; /* and a second name */
	bool more;
};

static bool put_item(void *self, const struct store_item *item)
{
	struct lister *lister = self;
	struct json *json = &lister->json;

	if (lister->count++ >= lister->limit) {
		lister->more = true;
		return false;
	}
	json_open_object(json, NULL);
	json_string(json, "name", item->name);
	if (lister->detail)
		json_string(json, "detail", item->detail);
	json_u64(json, "samples", item->samples);
	json_i64(json, "value", item->value);
	if (lister->self)
		json_i64(json, "self", item->self);
	json_u64(json, "from", item->from_s);
	json_u64(json, "to", item->to_s);
	json_close(json);
	return true;
}

static void begin(struct lister *lister, const struct query *query, const char *name,
		  struct http_response *response)
{
	lister->limit = lister->limit > 0 ? lister->limit : LIST_MAX;
	json_init(&lister->json, &response->body, false);
	json_open_object(&lister->json, NULL);
	json_u64(&lister->json, "from", query->selector.from_s);
	json_u64(&lister->json, "to", query->selector.to_s);
	json_open_array(&lister->json, name);
}

static void finish(struct lister *lister, int r, const struct error *err,
		   struct http_response *response)
{
	json_close(&lister->json);
	json_bool(&lister->json, "more", lister->more);
	json_close(&lister->json);
	bytes_put_u8(&response->body, '\n');
	if (r < 0)
		http_refuse_error(response, 0, err);
}

/* The query of a request. NULL after an answer about what is wrong. */
static struct query *read_query(struct source *source, const struct http_call *request,
				const char *type, struct http_response *response)
{
	struct error err = {0};
	struct query *query = calloc(1, sizeof(*query));
	int r = query ? query_read(query, source, request, type, &err)
		      : error_set(&err, -ENOMEM, "out of memory");

	if (r == 0)
		return query;
	http_refuse_error(response, 0, &err);
	free(query);
	return NULL;
}

static void list_values(struct source *source, const struct http_call *request, const char *label,
			const char *name, struct http_response *response)
{
	SCOPED(mem) struct query *query = read_query(source, request, "", response);
	struct lister lister = {.detail = strcmp(label, "type") == 0};
	struct error err = {0};
	int r;

	if (!query)
		return;
	begin(&lister, query, name, response);
	r = source_values(source, &query->selector, label, put_item, &lister, &err);
	finish(&lister, r, &err, response);
}

void route_services(void *self, const struct http_call *request, struct http_response *response)
{
	list_values(self, request, "service", "services", response);
}

void route_hosts(void *self, const struct http_call *request, struct http_response *response)
{
	list_values(self, request, "host", "hosts", response);
}

void route_releases(void *self, const struct http_call *request, struct http_response *response)
{
	list_values(self, request, "release", "releases", response);
}

void route_types(void *self, const struct http_call *request, struct http_response *response)
{
	list_values(self, request, "type", "types", response);
}

/* The names of labels, or the values of one. */
void route_labels(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	const char *label = http_call_query(request, "name");
	struct lister lister = {0};
	struct error err = {0};
	SCOPED(mem) struct query *query = NULL;
	int r;

	if (label && *label) {
		list_values(source, request, label, "values", response);
		return;
	}
	query = read_query(source, request, "", response);
	if (!query)
		return;
	begin(&lister, query, "labels", response);
	r = source_label_names(source, &query->selector, put_item, &lister, &err);
	finish(&lister, r, &err, response);
}

void route_gaps(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	SCOPED(mem) struct query *query = read_query(source, request, "", response);
	struct lister lister = {.detail = true};
	struct error err = {0};
	int r;

	if (!query)
		return;
	begin(&lister, query, "gaps", response);
	r = source_gaps(source, &query->selector, put_item, &lister, &err);
	finish(&lister, r, &err, response);
}

void route_top(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	SCOPED(mem) struct query *query = read_query(source, request, "cpu", response);
	struct lister lister = {.self = true};
	struct error err = {0};
	uint64_t limit = 0;
	int r;

	if (!query)
		return;
	r = query_number(request, "limit", 50, LIST_MAX, &limit, &err);
	if (r < 0) {
		http_refuse_error(response, 0, &err);
		return;
	}
	lister.limit = limit;
	begin(&lister, query, "functions", response);
	r = source_top(source, &query->selector, limit, put_item, &lister, &err);
	finish(&lister, r, &err, response);
}

/* A step that leaves a readable number of points: a hundredth of the range. */
static uint64_t usual_step(const struct source *source, const struct query *query)
{
	uint64_t range_s = query->selector.to_s - query->selector.from_s;
	uint64_t shortest_s = source->ops->shortest_step_s;

	return range_s / 100 < shortest_s ? shortest_s : range_s / 100;
}

void route_series(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	SCOPED(mem) struct query *query = read_query(source, request, "cpu", response);
	struct lister lister = {.limit = 10 * LIST_MAX};
	struct store_over_time what = {.function = http_call_query(request, "function"),
				       .group_by = http_call_query(request, "by")};
	struct error err = {0};
	uint64_t step_s = 0;
	int r;

	if (!query)
		return;
	r = query_number(request, "step", usual_step(source, query), UINT32_MAX, &step_s, &err);
	if (r == 0 && (query->selector.to_s - query->selector.from_s) / step_s > STEPS_MAX) {
		r = error_set(&err, -EINVAL, "the series would have more than %u points",
			      STEPS_MAX);
		error_remedy(&err, "use a longer step, or a shorter range");
	}
	if (r < 0) {
		http_refuse_error(response, 0, &err);
		return;
	}
	begin(&lister, query, "points", response);
	what.step_s = (uint32_t)step_s;
	r = source_over_time(source, &query->selector, &what, put_item, &lister, &err);
	finish(&lister, r, &err, response);
}
