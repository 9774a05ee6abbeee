/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/gauges.h"
#include "model/call_tally.h"
#include "model/call_tree.h"
#include "model/profile.h"

/*
 * json: the whole profile as one document; docs/reference/json.md has the keys. The tree may be
 * deeper than the JSON writer can nest, so it is written by hand.
 */

struct document {
	const struct profile *profile;
	const struct call_tree *tree;
	/* Trees of the other value types, with the same nodes; NULL: no such value. */
	struct call_tree *beside[PROFILE_MAX_VALUES];
	struct json json;
	struct bytes *out;
};

static double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_quality(struct json *json, const struct profile_quality *quality)
{
	json_u64(json, "samples", quality->samples);
	json_u64(json, "lost", quality->lost);
	json_u64(json, "unreadable", quality->unreadable);
	json_u64(json, "truncated", quality->truncated);
	json_u64(json, "unsymbolised", quality->unsymbolised);
	json_bool(json, "incomplete", quality->incomplete);
}

static void put_session(struct document *document)
{
	const struct profile *profile = document->profile;
	struct json *json = &document->json;
	size_t i;

	json_open_object(json, "profiling_session");
	json_string(json, "title", profile->title);
	json_string(json, "tool", "wick");
	json_string(json, "version", WICK_VERSION);
	json_u64(json, "start_realtime_ns", profile->start_realtime_ns);
	json_u64(json, "duration_ns", profile->duration_ns);
	json_u64(json, "period_ns", profile->period_ns);
	json_string(json, "value", profile->value_types[profile->main_value].name);
	json_string(json, "unit", profile->value_types[profile->main_value].unit);
	json_open_array(json, "values");
	for (i = 0; i < profile->value_count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", profile->value_types[i].name);
		json_string(json, "unit", profile->value_types[i].unit);
		json_close(json);
	}
	json_close(json);
	gauges_put_json(profile, json);
	put_quality(json, &profile->quality);
	json_open_array(json, "threads");
	for (i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		json_open_object(json, NULL);
		json_u64(json, "pid", thread->pid);
		json_u64(json, "tid", thread->tid);
		json_string(json, "comm", profile_text(profile, thread->comm));
		json_string(json, "process", profile_text(profile, thread->process_comm));
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void put_text(struct bytes *out, const char *key, const char *text)
{
	bytes_printf(out, ",\"%s\":\"", key);
	text_put_json(out, text);
	bytes_put_u8(out, '"');
}

/* The other values of a node: "values":{"name":[self,total]}. */
static void put_beside(struct document *document, uint32_t id)
{
	const char *before = ",\"values\":{";
	uint32_t i;

	for (i = 0; i < document->profile->value_count; i++) {
		const struct call_node *node;

		if (!document->beside[i])
			continue;
		node = &call_tree_nodes(document->beside[i])[id];
		bytes_printf(document->out, "%s\"", before);
		text_put_json(document->out, document->profile->value_types[i].name);
		bytes_printf(document->out, "\":[%" PRId64 ",%" PRId64 "]", node->self,
			     node->total);
		before = ",";
	}
	if (*before == ',' && before[1] == '\0')
		bytes_put_u8(document->out, '}');
}

static void put_node(struct document *document, uint32_t id)
{
	const struct call_node *node = &call_tree_nodes(document->tree)[id];
	struct bytes *out = document->out;

	bytes_printf(out, "{\"function_name\":\"");
	text_put_json(out, call_tree_name(document->tree, id));
	bytes_put_u8(out, '"');
	if (!(node->function & CALL_TREE_GROUP)) {
		const struct profile_function *function =
			&document->profile->functions.items[node->function];

		put_text(out, "module", profile_text(document->profile, function->module));
		put_text(out, "file", profile_text(document->profile, function->file));
	}
	bytes_printf(out,
		     ",\"sample_count\":%" PRIu64 ",\"self_count\":%" PRIu64 ",\"total\":%" PRId64
		     ",\"self\":%" PRId64,
		     node->samples, node->self_samples, node->total, node->self);
	put_beside(document, id);
	bytes_printf(out, ",\"children\":[");
}

/* Nodes come in pre-order: closes open nodes that are at least as deep as the next one. */
static void put_tree(struct document *document)
{
	const struct call_node *nodes = call_tree_nodes(document->tree);
	uint32_t count = call_tree_count(document->tree);
	uint32_t open = 0;
	uint32_t i;

	bytes_printf(document->out, ",\"flame_tree\":");
	for (i = 0; i < count; i++) {
		bool sibling = open > nodes[i].depth;

		for (; open > nodes[i].depth; open--)
			bytes_printf(document->out, "]}");
		if (sibling)
			bytes_put_u8(document->out, ',');
		put_node(document, i);
		open++;
	}
	for (; open > 0; open--)
		bytes_printf(document->out, "]}");
}

struct cell {
	int64_t self;
	int64_t total;
};

/* The other values of each function, value by value; nothing if there are none. */
static int tally_beside(const struct document *document, struct cell **ret)
{
	const struct profile *profile = document->profile;
	size_t functions = profile->functions.count;
	uint32_t value;
	int r = 0;

	*ret = calloc(functions * profile->value_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (value = 0; value < profile->value_count && r == 0; value++) {
		SCOPED(mem) struct call_tally *tallies = NULL;
		size_t count = 0;
		size_t i;

		if (!document->beside[value])
			continue;
		r = call_tally_new(profile, document->beside[value], CALL_TALLY_FUNCTION, &tallies,
				   &count);
		for (i = 0; i < count && r == 0; i++)
			(*ret)[functions * value + tallies[i].key] =
				(struct cell){tallies[i].self, tallies[i].total};
	}
	return r;
}

static void put_cells(struct document *document, const struct cell *cells, uint32_t function)
{
	const struct profile *profile = document->profile;
	bool open = false;
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		const struct cell *cell = &cells[profile->functions.count * i + function];

		if (!document->beside[i])
			continue;
		if (!open)
			json_open_object(&document->json, "values");
		open = true;
		json_open_array(&document->json, profile->value_types[i].name);
		json_i64(&document->json, NULL, cell->self);
		json_i64(&document->json, NULL, cell->total);
		json_close(&document->json);
	}
	if (open)
		json_close(&document->json);
}

static int put_hot_functions(struct document *document)
{
	const struct profile *profile = document->profile;
	const struct call_node *root = call_tree_nodes(document->tree);
	SCOPED(mem) struct call_tally *tallies = NULL;
	SCOPED(mem) struct cell *cells = NULL;
	struct json *json = &document->json;
	size_t count;
	size_t i;
	int r = call_tally_new(profile, document->tree, CALL_TALLY_FUNCTION, &tallies, &count);

	if (r == 0)
		r = tally_beside(document, &cells);
	if (r < 0)
		return r;
	json_open_array(json, "hot_functions");
	for (i = 0; i < count; i++) {
		const struct call_tally *tally = &tallies[i];
		const struct profile_function *function = &profile->functions.items[tally->key];

		json_open_object(json, NULL);
		json_string(json, "function_name", profile_text(profile, function->name));
		json_string(json, "module", profile_text(profile, function->module));
		json_string(json, "file", profile_text(profile, function->file));
		json_u64(json, "self_count", tally->self_samples);
		json_u64(json, "sample_count", tally->samples);
		json_i64(json, "self", tally->self);
		json_i64(json, "total", tally->total);
		json_double(json, "self_percent", percent(tally->self, root->total), 3);
		json_double(json, "total_percent", percent(tally->total, root->total), 3);
		put_cells(document, cells, tally->key);
		json_close(json);
	}
	json_close(json);
	return 0;
}

/* The totals of a heap, by name of the value; null for other profiles. */
static void put_memory(struct document *document)
{
	const struct profile *profile = document->profile;
	struct json *json = &document->json;
	bool open = false;
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		const struct call_tree *tree =
			document->beside[i] ? document->beside[i] : document->tree;
		const char *name = profile->value_types[i].name;

		if (!strstr(name, "_space") && !strstr(name, "_objects"))
			continue;
		if (!open)
			json_open_object(json, "memory_profile");
		open = true;
		json_i64(json, name, call_tree_nodes(tree)[0].total);
	}
	if (open)
		json_close(json);
	else
		json_string(json, "memory_profile", NULL);
}

static int put_all(struct document *document)
{
	int r;

	json_init(&document->json, document->out, false);
	json_open_object(&document->json, NULL);
	put_session(document);
	put_tree(document);
	r = put_hot_functions(document);
	if (r < 0)
		return r;
	put_memory(document);
	json_close(&document->json);
	bytes_put_u8(document->out, '\n');
	return 0;
}

static int json_write(const struct profile *profile, const struct export_config *config,
		      struct bytes *out, struct error *err)
{
	uint32_t value =
		config->value == EXPORT_DEFAULT_VALUE ? profile->main_value : config->value;
	struct document document = {.profile = profile, .out = out};
	struct call_tree_options options = {.value = value};
	SCOPED(call_tree) struct call_tree *tree = NULL;
	uint32_t i;
	int r = call_tree_new(profile, &options, &tree);

	document.tree = tree;
	for (i = 0; i < profile->value_count && r == 0; i++) {
		options.value = i;
		if (i != value && i != call_tree_samples_value(profile))
			r = call_tree_new(profile, &options, &document.beside[i]);
	}
	r = r < 0 ? error_errno(err, r, "cannot build the call tree") : put_all(&document);
	for (i = 0; i < profile->value_count; i++)
		call_tree_free(document.beside[i]);
	return r == -ENOMEM ? error_errno(err, r, "cannot write the document") : r;
}

const struct exporter_ops export_json = {
	.name = "json",
	.summary = "one document: the session, the call tree, the hot functions",
	.extension = "json",
	.write = json_write,
};
