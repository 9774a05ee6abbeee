/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report_text.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/report/report.h"
#include "view/report/report_rows.h"
#include "view/report/report_values.h"

/*
 * The tree is shown in pre-order, largest child first, by the chosen sort key. Nodes that are too
 * small or too deep are counted, for one line at the end. Pending nodes are on a stack.
 */

struct branch {
	uint32_t node;
	uint32_t depth;
	int32_t parent; /* index of the parent among the shown nodes */
	bool last;      /* among its siblings */
};

struct walk {
	const struct report *report;
	VEC(struct branch) pending;
	VEC(bool) last; /* of the branch at each depth above the current line */
	int32_t shown;
	uint64_t cut;       /* nodes left out */
	int64_t cut_total;  /* their sum */
	bool cut_small;     /* some because of their size, */
	bool cut_deep;      /* some because of their depth */
	struct rows values; /* of all nodes, if the profile has several values; else empty */
};

/* Negative: the second is larger. */
static int compare_nodes(const struct call_node *x, const struct call_node *y,
			 enum report_sort sort)
{
	if (sort == REPORT_SORT_SAMPLES && x->samples != y->samples)
		return x->samples < y->samples ? -1 : 1;
	if (sort == REPORT_SORT_SELF && x->self != y->self)
		return x->self < y->self ? -1 : 1;
	return (x->total > y->total) - (x->total < y->total);
}

/* Largest last: it is popped first. */
static int compare_branches(const void *a, const void *b, void *context)
{
	const struct report *report = context;
	const struct call_node *nodes = call_tree_nodes(report->tree);
	const struct branch *x = a;
	const struct branch *y = b;
	int order = compare_nodes(&nodes[x->node], &nodes[y->node], report->options->sort);

	return order ? order : (x->node < y->node) - (x->node > y->node);
}

/* Whether a node is shown; notes why not. */
static bool is_shown(struct walk *walk, const struct call_node *node)
{
	const struct report *report = walk->report;
	uint32_t max_depth = report->options->max_depth;
	bool is_small = quantity_percent(node->total, report->total) < report->options->min_percent;
	bool is_deep = max_depth > 0 && node->depth > max_depth;

	walk->cut_small |= is_small;
	walk->cut_deep |= is_deep && !is_small;
	return !is_small && !is_deep;
}

/* Puts the children of a shown node on the stack. */
static int push_children(struct walk *walk, uint32_t parent, int32_t parent_index)
{
	const struct call_node *nodes = call_tree_nodes(walk->report->tree);
	size_t first = walk->pending.count;
	uint32_t child;

	for (child = parent + 1; child < nodes[parent].end; child = nodes[child].end) {
		struct branch branch = {
			.node = child, .depth = nodes[child].depth, .parent = parent_index};

		/* Skips nodes that have only values of other events. */
		if (nodes[child].total == 0 && nodes[child].samples == 0)
			continue;
		if (!is_shown(walk, &nodes[child])) {
			walk->cut += nodes[child].end - child;
			walk->cut_total += nodes[child].total;
		} else if (vec_push(&walk->pending, branch) < 0) {
			return -ENOMEM;
		}
	}
	if (walk->pending.count > first) {
		/* glibc's context parameter is not const; the comparison does not write. */
		qsort_r(walk->pending.items + first, walk->pending.count - first,
			sizeof(struct branch), compare_branches, (void *)(uintptr_t)walk->report);
		walk->pending.items[first].last = true;
	}
	return 0;
}

/* Visits the shown nodes; show() receives the branch of each line. */
static int walk_tree(struct walk *walk, int (*show)(struct walk *, const struct branch *, void *),
		     void *context)
{
	int r = vec_push(&walk->pending, (struct branch){.parent = -1, .last = true});

	while (r == 0 && walk->pending.count > 0) {
		struct branch branch = walk->pending.items[--walk->pending.count];

		r = show(walk, &branch, context);
		if (r == 0)
			r = push_children(walk, branch.node, walk->shown++);
	}
	vec_fini(&walk->pending);
	vec_fini(&walk->last);
	return r;
}

/* Text */

static int put_lines(struct walk *walk, const struct branch *branch)
{
	struct bytes *out = walk->report->out;
	uint32_t i;

	walk->last.count = branch->depth;
	if (vec_push(&walk->last, branch->last) < 0)
		return -ENOMEM;
	report_color(walk->report, REPORT_DIM);
	for (i = 1; i < branch->depth; i++)
		bytes_printf(out, "%s", walk->last.items[i] ? "   " : "│  ");
	if (branch->depth > 0)
		bytes_printf(out, "%s", branch->last ? "└─ " : "├─ ");
	report_plain(walk->report);
	return 0;
}

static void put_module(const struct report *report, uint32_t function)
{
	const struct profile *profile = report->profile;
	const char *module;

	if (function & CALL_TREE_GROUP)
		return;
	module = profile_text(profile, profile->functions.items[function].module);
	if (*module == '\0')
		return;
	report_color(report, REPORT_DIM);
	bytes_put(report->out, " (", 2);
	text_put_terminal(report->out, path_base_name(module));
	bytes_put_u8(report->out, ')');
	report_plain(report);
}

static int show_text(struct walk *walk, const struct branch *branch, void *context)
{
	const struct report *report = walk->report;
	const struct call_node *node;

	node = &call_tree_nodes(report->tree)[branch->node];
	report_put_share(report, node->total);
	report_put_share(report, node->self);
	bytes_printf(report->out, "  %10s  ", quantity_of(node->total, report->unit).text);
	if (report_counts_samples(report))
		bytes_printf(report->out, "%9s  ", quantity_count(node->samples).text);
	if (walk->values.cells)
		report_values_put(report, &walk->values, branch->node);
	if (put_lines(walk, branch) < 0)
		return -ENOMEM;
	report_put_name(report->out, call_tree_name(report->tree, branch->node));
	put_module(report, node->function);
	bytes_put_u8(report->out, '\n');
	return 0;
}

static void put_cut(const struct walk *walk)
{
	const struct report_options *options = walk->report->options;
	struct bytes *out = walk->report->out;

	if (walk->cut == 0)
		return;
	bytes_printf(out, "%s part%s ", quantity_count(walk->cut).text, quantity_s(walk->cut));
	if (walk->cut_small)
		bytes_printf(out, "below %g %%", options->min_percent);
	if (walk->cut_deep)
		bytes_printf(out, "%sdeeper than %u", walk->cut_small ? " or " : "",
			     options->max_depth);
	bytes_printf(out, " with %s in total %s not shown;%s%s shows %s\n",
		     quantity_share(walk->cut_total, walk->report->total).text,
		     walk->cut == 1 ? "is" : "are", walk->cut_small ? " --min-percent 0" : "",
		     walk->cut_deep ? " --max-depth 0" : "", walk->cut == 1 ? "it" : "them");
}

int report_tree_text(const struct report *report)
{
	struct walk walk = {.report = report};
	int r = report_has_values(report) ? report_rows_of_nodes(report, &walk.values) : 0;

	report_color(report, REPORT_BOLD);
	bytes_printf(report->out, "%8s%8s  %10s  ", "total", "self", "total");
	if (report_counts_samples(report))
		bytes_printf(report->out, "%9s  ", "samples");
	report_values_put_names(report);
	bytes_printf(report->out, "%s",
		     report->options->inverted ? "function and its callers" : "function");
	report_plain(report);
	bytes_put_u8(report->out, '\n');
	if (r == 0)
		r = walk_tree(&walk, show_text, NULL);
	if (r == 0)
		put_cut(&walk);
	report_rows_free(&walk.values);
	return r;
}

/* JSON */

static int show_json(struct walk *walk, const struct branch *branch, void *context)
{
	const struct report *report = walk->report;
	const struct profile *profile = report->profile;
	const struct call_node *node;
	struct json *json = context;

	node = &call_tree_nodes(report->tree)[branch->node];
	json_open_object(json, NULL);
	json_string(json, "name", call_tree_name(report->tree, branch->node));
	if (!(node->function & CALL_TREE_GROUP))
		json_string(json, "module",
			    profile_text(profile, profile->functions.items[node->function].module));
	json_u64(json, "depth", branch->depth);
	json_i64(json, "parent", branch->parent);
	json_i64(json, "self", node->self);
	json_i64(json, "total", node->total);
	json_double(json, "total_percent", quantity_percent(node->total, report->total), 3);
	json_u64(json, "self_samples", node->self_samples);
	json_u64(json, "samples", node->samples);
	if (walk->values.cells)
		report_values_json(report, &walk->values, branch->node, json);
	json_close(json);
	return 0;
}

int report_tree_json(const struct report *report, struct json *json)
{
	struct walk walk = {.report = report};
	int r = report_has_values(report) ? report_rows_of_nodes(report, &walk.values) : 0;

	json_open_array(json, "nodes");
	if (r == 0)
		r = walk_tree(&walk, show_json, json);
	report_rows_free(&walk.values);
	json_close(json);
	json_u64(json, "cut", walk.cut);
	return r;
}
