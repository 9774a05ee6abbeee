/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/profile.h"
#include "model/profile_pair.h"
#include "server/grafana/flame_levels.h"
#include "server/grafana/querier_messages.h"
#include "server/profile_type.h"
#include "server/query.h"
#include "server/routes.h"
#include "server/state.h"

/*
 * querier_routes: the part of Pyroscope's query API that Grafana's data source uses. Times are in
 * milliseconds; the label "service" is called service_name there, and a type of profile has five
 * parts.
 */

#define MS 1000
#define MAX_NODES_USUAL 8192
#define MAX_NODES_MOST (1 << 20)

/* One call of a method. */
struct method {
	struct server *server;
	struct query *query;
	json_t *request;
	json_t *response;
	struct error *err;
};

typedef int method_fn(struct method *method);

/* Answers as the protocol does: a code and a message. */
static void refuse(struct http_response *response, const struct error *err)
{
	bool is_ours = http_status_of(err->code) >= 500;
	json_t *answer = json_pack("{s:s, s:s}", "code", is_ours ? "internal" : "invalid_argument",
				   "message", err->text);
	char *text = json_dumps(answer, JSON_COMPACT);

	bytes_clear(&response->body);
	response->status = is_ours ? 500 : 400;
	response->type = NULL;
	bytes_printf(&response->body, "%s", text ? text : "{}");
	free(text);
	json_decref(answer);
}

static void call(void *self, const struct http_call *request, struct http_response *response,
		 const struct connect_field *fields[2], method_fn *fn)
{
	const char *type = http_call_header(request, "Content-Type");
	bool is_json = !type || strncasecmp(type, "application/json", 16) == 0;
	struct error err = {0};
	SCOPED(mem) struct query *query = calloc(1, sizeof(*query));
	struct method method = {.server = self, .query = query, .err = &err};
	int r;

	method.request = connect_read(fields[0], request->body, request->body_size, is_json, &err);
	method.response = json_object();
	if (!method.request)
		r = err.code;
	else if (!query || !method.response)
		r = error_set(&err, -ENOMEM, "out of memory");
	else
		r = fn(&method);
	if (r < 0) {
		refuse(response, &err);
	} else {
		response->type = is_json ? NULL : "application/proto";
		connect_write(fields[1], method.response, is_json, &response->body);
	}
	json_decref(method.request);
	json_decref(method.response);
}

/* Range and matchers of a request; without a range, the last day. */
static int read_query(struct method *method, const json_t *request, const char *selector,
		      const char *type)
{
	uint64_t now_s = clock_realtime_ns() / NS_PER_SEC;
	int64_t start = connect_number(request, "start") / MS;
	int64_t end = (connect_number(request, "end") + MS - 1) / MS;

	if (end <= 0)
		end = (int64_t)now_s + 1;
	if (start <= 0 || start >= end)
		start = end > 86400 ? end - 86400 : 0;
	return query_set(method->query, selector, type, (uint64_t)start, (uint64_t)end,
			 method->err);
}

/* All matchers of a list: each is a selector in braces. */
static int read_matchers(struct method *method)
{
	const json_t *matchers = json_object_get(method->request, "matchers");
	SCOPED(mem) struct selector *selector = calloc(1, sizeof(*selector));
	int r = read_query(method, method->request, "", "");
	size_t i;
	size_t k;

	if (!selector)
		return error_set(method->err, -ENOMEM, "out of memory");
	for (i = 0; i < json_array_size(matchers) && r == 0; i++) {
		const char *text = json_string_value(json_array_get(matchers, i));

		r = selector_parse(selector, text ? text : "", method->err);
		for (k = 0; k < selector->count && r == 0; k++)
			r = profile_type_match(method->query, &selector->matches[k], method->err);
	}
	return r;
}

/* Selector and type of a request for stacks or series. */
static int read_selection(struct method *method, const json_t *request)
{
	SCOPED(mem) struct selector *selector = calloc(1, sizeof(*selector));
	char type[64];
	size_t k;
	int r;

	if (!selector)
		return error_set(method->err, -ENOMEM, "out of memory");
	profile_type_of_id(connect_text(request, "profileTypeID"), type, sizeof(type));
	r = read_query(method, request, "", type);
	if (r == 0)
		r = selector_parse(selector, connect_text(request, "labelSelector"), method->err);
	for (k = 0; k < selector->count && r == 0; k++)
		r = profile_type_match(method->query, &selector->matches[k], method->err);
	return r;
}

static bool add_type(void *self, const struct store_item *item)
{
	struct profile_type_id id = profile_type_id(item->name, item->detail);

	return json_array_append_new(self,
				     json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "ID", id.text,
					       "name", id.name, "sampleType", item->name,
					       "sampleUnit", item->detail, "periodType",
					       id.period_type, "periodUnit", id.period_unit)) == 0;
}

static int profile_types(struct method *method)
{
	json_t *types = json_array();
	int r = read_query(method, method->request, "", "");

	if (r == 0)
		r = store_values(method->server->store, &method->query->selector, "type", add_type,
				 types, method->err);
	(void)json_object_set_new(method->response, "profileTypes", types);
	return r;
}

static bool add_name(void *self, const struct store_item *item)
{
	return json_array_append_new(self, connect_string(profile_type_their_label(item->name))) ==
	       0;
}

static bool add_type_id(void *self, const struct store_item *item)
{
	struct profile_type_id id = profile_type_id(item->name, item->detail);

	return json_array_append_new(self, connect_string(id.text)) == 0;
}

static int label_names(struct method *method)
{
	json_t *names = json_array();
	int r = read_matchers(method);

	if (r == 0)
		r = store_label_names(method->server->store, &method->query->selector, add_name,
				      names, method->err);
	(void)json_object_set_new(method->response, "names", names);
	return r;
}

static bool add_value(void *self, const struct store_item *item)
{
	return !*item->name || json_array_append_new(self, connect_string(item->name)) == 0;
}

static int label_values(struct method *method)
{
	const char *name = profile_type_own_label(connect_text(method->request, "name"));
	json_t *values = json_array();
	int r = read_matchers(method);

	if (r == 0)
		r = store_values(method->server->store, &method->query->selector, name,
				 strcmp(name, "type") == 0 ? add_type_id : add_value, values,
				 method->err);
	(void)json_object_set_new(method->response, "names", values);
	return r;
}

/* The sets of labels below one service: with its types, if these are wanted. */
struct set_writer {
	json_t *sets;
	const char *service;
	const char *label; /* what items are values of */
};

static bool add_set(void *self, const struct store_item *item)
{
	struct set_writer *writer = self;
	struct profile_type_id id = profile_type_id(item->name, item->detail);
	bool is_type = strcmp(writer->label, "__profile_type__") == 0;
	json_t *labels = json_array();

	if (writer->service)
		(void)json_array_append_new(labels, json_pack("{s:s, s:s}", "name", "service_name",
							      "value", writer->service));
	(void)json_array_append_new(labels, json_pack("{s:s, s:s}", "name", writer->label, "value",
						      is_type ? id.text : item->name));
	return json_array_append_new(writer->sets, json_pack("{s:o}", "labels", labels)) == 0;
}

/* The other label that is asked for besides the service; NULL: none. */
static const char *second_label(const json_t *names)
{
	size_t i;

	for (i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && strcmp(profile_type_own_label(name), "service") != 0)
			return name;
	}
	return NULL;
}

static bool has_service(const json_t *names)
{
	size_t i;

	for (i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && strcmp(profile_type_own_label(name), "service") == 0)
			return true;
	}
	return json_array_size(names) == 0;
}

static int sets_of_services(struct method *method, const json_t *services, const char *label,
			    json_t *sets)
{
	size_t known = method->query->labels.count;
	size_t i;
	int r = 0;

	for (i = 0; i < json_array_size(services) && r == 0; i++) {
		struct set_writer writer = {.sets = sets,
					    .service =
						    json_string_value(json_array_get(services, i)),
					    .label = label};
		size_t used = method->query->labels.used;

		r = query_require(method->query, "service", writer.service, method->err);
		if (r == 0)
			r = store_values(method->server->store, &method->query->selector,
					 profile_type_own_label(label), add_set, &writer,
					 method->err);
		method->query->labels.count = known;
		method->query->labels.used = used;
	}
	return r;
}

static int list_series(struct method *method)
{
	const json_t *names = json_object_get(method->request, "labelNames");
	const char *label = second_label(names);
	struct set_writer writer = {.sets = json_array(), .label = label ? label : "service_name"};
	json_t *services = json_array();
	int r = read_matchers(method);

	(void)json_object_set_new(method->response, "labelsSet", writer.sets);
	if (r == 0 && label && has_service(names)) {
		r = store_values(method->server->store, &method->query->selector, "service",
				 add_value, services, method->err);
		if (r == 0)
			r = sets_of_services(method, services, label, writer.sets);
	} else if (r == 0) {
		r = store_values(method->server->store, &method->query->selector,
				 profile_type_own_label(writer.label), add_set, &writer,
				 method->err);
	}
	json_decref(services);
	return r;
}

static uint64_t max_nodes_of(const json_t *request)
{
	int64_t wanted = connect_number(request, "maxNodes");

	if (wanted <= 0)
		return MAX_NODES_USUAL;
	return wanted < MAX_NODES_MOST ? (uint64_t)wanted : MAX_NODES_MOST;
}

static int set_graph(struct method *method, json_t *graph)
{
	if (!graph)
		return error_set(method->err, -ENOMEM, "out of memory");
	(void)json_object_set_new(method->response, "flamegraph", graph);
	return 0;
}

static int merge_stacktraces(struct method *method)
{
	SCOPED(profile) struct profile *profile = NULL;
	int r = read_selection(method, method->request);

	if (r == 0)
		r = store_profile(method->server->store, &method->query->selector, &profile,
				  method->err);
	return r < 0 ? r
		     : set_graph(method, flame_levels(profile, profile->main_value,
						      max_nodes_of(method->request)));
}

static int diff(struct method *method)
{
	static const char *const names[] = {"left", "right"};
	const uint32_t values[] = {PAIR_BEFORE, PAIR_AFTER};
	struct profile *sides[2] = {NULL, NULL};
	struct profile_pair pair = {0};
	uint32_t mains[2] = {0};
	int i;
	int r = 0;

	for (i = 0; i < 2 && r == 0; i++) {
		r = read_selection(method, json_object_get(method->request, names[i]));
		if (r == 0)
			r = store_profile(method->server->store, &method->query->selector,
					  &sides[i], method->err);
		if (r == 0)
			mains[i] = sides[i]->main_value;
	}
	if (r == 0 && profile_pair_init(&pair, (const struct profile *const *)sides, mains) < 0)
		r = error_set(method->err, -ENOMEM, "out of memory");
	if (r == 0) {
		r = set_graph(method, flame_levels_pair(pair.both, values, MAX_NODES_USUAL));
		profile_pair_fini(&pair);
	}
	profile_free(sides[0]);
	profile_free(sides[1]);
	return r;
}

/* Points on their way into series, one for each value of the label. */
struct series_writer {
	json_t *all;     /* the answer */
	json_t *by_name; /* borrowed points of each */
	const char *label;
};

static bool add_point(void *self, const struct store_item *item)
{
	struct series_writer *writer = self;
	json_t *points = json_object_get(writer->by_name, item->name);

	if (!points) {
		json_t *labels = json_array();

		if (writer->label)
			(void)json_array_append_new(labels,
						    json_pack("{s:s, s:s}", "name", writer->label,
							      "value", item->name));
		points = json_array();
		(void)json_object_set(writer->by_name, item->name, points);
		(void)json_array_append_new(
			writer->all, json_pack("{s:o, s:o}", "labels", labels, "points", points));
	}
	return json_array_append_new(points,
				     json_pack("{s:f, s:I}", "value", (double)item->value,
					       "timestamp", (json_int_t)item->from_s * MS)) == 0;
}

static int select_series(struct method *method)
{
	const json_t *groups = json_object_get(method->request, "groupBy");
	const char *label = json_string_value(json_array_get(groups, 0));
	double step = json_number_value(json_object_get(method->request, "step"));
	struct series_writer writer = {json_array(), json_object(), label};
	struct store_over_time what = {
		.group_by = label ? profile_type_own_label(label) : NULL,
		.step_s = step >= 1 && step < UINT32_MAX ? (uint32_t)step : 15,
	};
	int r = read_selection(method, method->request);

	if (r == 0)
		r = store_over_time(method->server->store, &method->query->selector, &what,
				    add_point, &writer, method->err);
	(void)json_object_set_new(method->response, "series", writer.all);
	json_decref(writer.by_name);
	return r;
}

#define METHOD(route, request_fields, response_fields, fn)                                         \
	void route(void *self, const struct http_call *request, struct http_response *response)    \
	{                                                                                          \
		const struct connect_field *fields[2] = {request_fields, response_fields};         \
                                                                                                   \
		call(self, request, response, fields, fn);                                         \
	}

METHOD(route_profile_types, querier_profile_types_request, querier_profile_types_response,
       profile_types)
METHOD(route_label_names, querier_label_names_request, querier_names_response, label_names)
METHOD(route_label_values, querier_label_values_request, querier_names_response, label_values)
METHOD(route_querier_series, querier_series_request, querier_series_response, list_series)
METHOD(route_merge_stacktraces, querier_stacktraces_request, querier_stacktraces_response,
       merge_stacktraces)
METHOD(route_select_series, querier_select_series_request, querier_select_series_response,
       select_series)
METHOD(route_querier_diff, querier_diff_request, querier_diff_response, diff)
