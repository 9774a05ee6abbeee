/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report_focus.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/function_match.h"
#include "view/report/report.h"
#include "view/report/report_text.h"

/*
 * A call that is nested in another call of the same function belongs to the outer one, as in the
 * totals of functions. So the callers of a function add up to its total, and so do the functions
 * that it calls, with the time in itself. In a recursion it calls itself.
 */

/* More functions that match are only counted. */
#define FUNCTIONS_MAX 20u

struct neighbour {
	uint32_t function; /* CALL_TREE_GROUP: none, the function is the first of its stacks */
	int64_t total;
	uint64_t samples;
};

/* One function with its neighbours; sums are by function of the profile, the last is for none. */
struct focus {
	const char *name;
	int64_t total;
	uint64_t samples;
	int64_t self; /* of the outermost calls */
	uint64_t self_samples;
	struct neighbour *callers;
	struct neighbour *callees;
	size_t size; /* of both */
};

static void scope_release_focus(struct focus *focus)
{
	free(focus->callers);
	free(focus->callees);
}

static void add(const struct focus *focus, struct neighbour *list, const struct call_node *of,
		const struct call_node *cost)
{
	bool is_none = of->function & CALL_TREE_GROUP;
	struct neighbour *item = &list[is_none ? focus->size - 1 : of->function];

	item->function = is_none ? CALL_TREE_GROUP : of->function;
	item->total += cost->total;
	item->samples += cost->samples;
}

/* Adds an outermost call. */
static void add_call(struct focus *focus, const struct call_node *nodes, uint32_t at)
{
	const struct call_node *node = &nodes[at];
	uint32_t child;

	focus->total += node->total;
	focus->samples += node->samples;
	focus->self += node->self;
	focus->self_samples += node->self_samples;
	add(focus, focus->callers, &nodes[node->parent], node);
	for (child = at + 1; child < node->end; child = nodes[child].end)
		add(focus, focus->callees, &nodes[child], &nodes[child]);
}

/* Largest first; unused ones are last. */
static int by_total(const void *a, const void *b)
{
	const struct neighbour *x = a;
	const struct neighbour *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->samples < y->samples) - (x->samples > y->samples);
}

static int focus_init(struct focus *focus, const struct report *report, const char *name)
{
	const struct profile *profile = report->profile;
	const struct call_node *nodes = call_tree_nodes(report->tree);
	uint32_t count = call_tree_count(report->tree);
	size_t size = profile->functions.count + 1;
	uint32_t at;

	*focus = (struct focus){.name = name,
				.callers = calloc(size, sizeof(struct neighbour)),
				.callees = calloc(size, sizeof(struct neighbour)),
				.size = size};
	if (!focus->callers || !focus->callees)
		return -ENOMEM;
	for (at = 1; at < count;) {
		uint32_t function = nodes[at].function;

		/* Names are interned. */
		if (function & CALL_TREE_GROUP ||
		    profile_text(profile, profile->functions.items[function].name) != name) {
			at++;
			continue;
		}
		add_call(focus, nodes, at);
		at = nodes[at].end;
	}
	qsort(focus->callers, size, sizeof(*focus->callers), by_total);
	qsort(focus->callees, size, sizeof(*focus->callees), by_total);
	return 0;
}

static bool is_used(const struct neighbour *item)
{
	return item->total != 0 || item->samples != 0;
}

static size_t used(const struct focus *focus, const struct neighbour *list)
{
	size_t count = 0;

	while (count < focus->size && is_used(&list[count]))
		count++;
	return count;
}

static const char *name_of(const struct report *report, const struct neighbour *item)
{
	const struct profile *profile = report->profile;

	if (item->function == CALL_TREE_GROUP)
		return "[no caller]";
	return profile_text(profile, profile->functions.items[item->function].name);
}

static const char *module_of(const struct report *report, const struct neighbour *item)
{
	const struct profile *profile = report->profile;

	if (item->function == CALL_TREE_GROUP)
		return "";
	return profile_text(profile, profile->functions.items[item->function].module);
}

/* Text */

static void put_cost(const struct report *report, int64_t total, uint64_t samples)
{
	report_put_share(report, total);
	bytes_printf(report->out, "  %10s  ", quantity_of(total, report->unit).text);
	if (report_counts_samples(report))
		bytes_printf(report->out, "%9s  ", quantity_count(samples).text);
}

static void put_titles(const struct report *report, const char *title)
{
	report_color(report, REPORT_BOLD);
	bytes_printf(report->out, "%8s  %10s  ", "share", "total");
	if (report_counts_samples(report))
		bytes_printf(report->out, "%9s  ", "samples");
	bytes_printf(report->out, "%s", title);
	report_plain(report);
	bytes_put_u8(report->out, '\n');
}

static void put_list(const struct report *report, const struct focus *focus,
		     const struct neighbour *list)
{
	size_t count = used(focus, list);
	uint32_t limit = report->options->limit;
	size_t shown = limit && count > limit ? limit : count;
	size_t i;

	for (i = 0; i < shown; i++) {
		const char *module = module_of(report, &list[i]);

		put_cost(report, list[i].total, list[i].samples);
		report_put_name(report->out, name_of(report, &list[i]));
		if (*module) {
			report_color(report, REPORT_DIM);
			bytes_put(report->out, " (", 2);
			text_put_terminal(report->out, path_base_name(module));
			bytes_put_u8(report->out, ')');
			report_plain(report);
		}
		bytes_put_u8(report->out, '\n');
	}
	if (count > shown)
		bytes_printf(report->out, "%zu more; -n 0 shows %s\n", count - shown,
			     count - shown == 1 ? "it" : "them");
}

static void put_focus(const struct report *report, const struct focus *focus)
{
	put_titles(report, "function");
	put_cost(report, focus->total, focus->samples);
	report_put_name(report->out, focus->name);
	bytes_put_u8(report->out, '\n');
	bytes_put_u8(report->out, '\n');
	put_titles(report, "called by");
	put_list(report, focus, focus->callers);
	bytes_put_u8(report->out, '\n');
	put_titles(report, "calls");
	if (focus->self != 0 || focus->self_samples != 0) {
		put_cost(report, focus->self, focus->self_samples);
		bytes_printf(report->out, "[itself]\n");
	}
	put_list(report, focus, focus->callees);
}

/* JSON */

static void json_list(const struct report *report, const struct focus *focus,
		      const struct neighbour *list, const char *key, struct json *json)
{
	size_t count = used(focus, list);
	uint32_t limit = report->options->limit;
	size_t i;

	json_open_array(json, key);
	for (i = 0; i < count && (!limit || i < limit); i++) {
		json_open_object(json, NULL);
		json_string(json, "name",
			    list[i].function == CALL_TREE_GROUP ? "" : name_of(report, &list[i]));
		json_string(json, "module", module_of(report, &list[i]));
		json_i64(json, "total", list[i].total);
		json_double(json, "total_percent", quantity_percent(list[i].total, report->total),
			    3);
		json_u64(json, "samples", list[i].samples);
		json_close(json);
	}
	json_close(json);
}

static void json_focus(const struct report *report, const struct focus *focus, struct json *json)
{
	json_open_object(json, NULL);
	json_string(json, "name", focus->name);
	json_i64(json, "self", focus->self);
	json_i64(json, "total", focus->total);
	json_double(json, "total_percent", quantity_percent(focus->total, report->total), 3);
	json_u64(json, "self_samples", focus->self_samples);
	json_u64(json, "samples", focus->samples);
	json_list(report, focus, focus->callers, "callers", json);
	json_list(report, focus, focus->callees, "callees", json);
	json_close(json);
}

int report_focus(const struct report *report, struct json *json)
{
	const struct function_matches *found = report->options->focus;
	size_t shown = found->count > FUNCTIONS_MAX ? FUNCTIONS_MAX : found->count;
	size_t i;
	int r = 0;

	if (json)
		json_open_array(json, "functions");
	for (i = 0; i < shown && r == 0; i++) {
		SCOPED(focus) struct focus focus = {0};

		r = focus_init(&focus, report, found->items[i].name);
		if (r == 0 && json)
			json_focus(report, &focus, json);
		if (r == 0 && !json && i > 0)
			bytes_put_u8(report->out, '\n');
		if (r == 0 && !json)
			put_focus(report, &focus);
	}
	if (json) {
		json_close(json);
		json_u64(json, "more", found->count - shown);
	} else if (shown < found->count) {
		bytes_printf(report->out, "\n%zu more function%s match%s\n", found->count - shown,
			     quantity_s(found->count - shown),
			     found->count - shown == 1 ? "es" : "");
	}
	return r;
}
