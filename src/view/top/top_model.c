/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_model.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <xxhash.h>

#include "base/hash_seed.h"
#include "model/profile.h"
#include "view/top/top_state.h"

static const char *function_name(const struct profile *profile, uint32_t function)
{
	return profile_text(profile, profile->functions.items[function].name);
}

static uint64_t hash_text(const char *text)
{
	return XXH3_64bits_withSeed(text, strlen(text), hash_seed.first);
}

void top_model_fini(struct top_model *model)
{
	vec_fini(&model->functions);
	vec_fini(&model->threads);
	vec_fini(&model->boxes);
	vec_fini(&model->sums);
	vec_fini(&model->path);
	vec_fini(&model->climbs);
	vec_fini(&model->climbed);
	vec_fini(&model->common);
	vec_fini(&model->thread_sums);
	vec_fini(&model->grown);
	vec_fini(&model->order);
	id_index_fini(&model->box_index);
}

static int begin(struct top_model *model, const struct profile *profile)
{
	model->profile = profile;
	model->value = profile->main_value;
	model->all = model->whole = 0;
	model->functions.count = model->threads.count = model->boxes.count = 0;
	model->sums.count = model->thread_sums.count = model->grown.count = 0;
	model->climbs.count = model->climbed.count = model->common.count = 0;
	id_index_clear(&model->box_index);
	for (size_t i = 0; i < profile->functions.count; i++)
		if (vec_push(&model->sums, (struct top_function){.function = (uint32_t)i,
								 .counted = ID_NONE}) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < profile->threads.count; i++)
		if (vec_push(&model->thread_sums, 0) < 0)
			return -ENOMEM;
	return vec_push(&model->grown, (struct top_box){.function = ID_NONE});
}

/* The functions of a stack, the innermost first. 0 or -ENOMEM. */
static int read_path(struct top_model *model, uint32_t stack)
{
	const struct profile *profile = model->profile;
	int r = 0;

	model->path.count = 0;
	for (; stack != 0 && r == 0; stack = profile->stacks.nodes.items[stack].parent) {
		const struct profile_location *location =
			&profile->locations.items[profile->stacks.nodes.items[stack].frame];

		for (uint32_t i = location->line_count; i-- > 0 && r == 0;)
			r = vec_push(&model->path,
				     profile->lines.items[location->first_line + i].function);
	}
	return r;
}

/* How much of the path is shown, counted from the root; 0: nothing. */
static size_t find_focus(const struct top_model *model, const char *focus)
{
	size_t shown = model->path.count;

	while (focus && shown > 0 &&
	       !top_state_is(focus, function_name(model->profile, model->path.items[shown - 1])))
		shown--;
	return shown;
}

/* A function counts once per stack, even if it occurs several times. */
static void add_functions(struct top_model *model, uint32_t entry, int64_t value)
{
	for (size_t i = 0; i < model->path.count; i++) {
		struct top_function *sum = &model->sums.items[model->path.items[i]];

		if (sum->counted == entry)
			continue;
		sum->counted = entry;
		sum->total += value;
	}
	if (model->path.count > 0)
		model->sums.items[model->path.items[0]].self += value;
}

static uint32_t child_of(struct top_model *model, uint32_t parent, uint32_t function)
{
	uint64_t hash = hash_pair(parent, function);
	struct id_probe probe = id_index_probe(&model->box_index, hash);
	struct top_box box = {.parent = parent,
			      .function = function,
			      .depth = model->grown.items[parent].depth + 1};
	uint32_t id;

	while ((id = id_probe_next(&model->box_index, &probe)) != ID_NONE)
		if (model->grown.items[id].parent == parent &&
		    model->grown.items[id].function == function)
			return id;
	id = (uint32_t)model->grown.count;
	if (id_index_add(&model->box_index, hash, id) < 0 || vec_push(&model->grown, box) < 0)
		return ID_NONE;
	return id;
}

/* The function at a depth of the shown part of the path. */
static uint32_t at_depth(const struct top_model *model, size_t shown, size_t depth)
{
	return model->path.items[shown - 1 - depth];
}

/* Updates what the path has in common with previous ones. 0 or -ENOMEM. */
static int compare_begin(struct top_model *model, size_t shown)
{
	size_t same = 0;

	if (model->climbs.count == 0) {
		for (; same < shown; same++)
			if (vec_push(&model->common, at_depth(model, shown, same)) < 0)
				return -ENOMEM;
		return 0;
	}
	while (same < model->common.count && same < shown &&
	       model->common.items[same] == at_depth(model, shown, same))
		same++;
	model->common.count = same;
	return 0;
}

/*
 * Stores the shown part of the path: what it may have in common with all others, and beyond that as
 * many functions as there are rows. 0 or -ENOMEM.
 */
static int begin_climb(struct top_model *model, size_t shown, uint32_t rows, int64_t value)
{
	struct top_climb climb = {.value = value, .first = (uint32_t)model->climbed.count};

	model->grown.items[0].total += value;
	if (compare_begin(model, shown) < 0)
		return -ENOMEM;
	for (; climb.count < shown && climb.count < model->common.count + rows - 1; climb.count++)
		if (vec_push(&model->climbed, at_depth(model, shown, climb.count)) < 0)
			return -ENOMEM;
	return vec_push(&model->climbs, climb);
}

/* Whether a box has at least half a column. Boxes above it are no larger. */
static bool is_seen(const struct top_model *model, uint32_t box, uint32_t columns)
{
	return (double)model->grown.items[box].total * columns * 2 >= (double)model->whole;
}

/*
 * Builds boxes level by level, starting where stacks begin to differ: what is above a box that is
 * too small to be seen is skipped, which is most of it if stacks differ. 0 or -ENOMEM.
 */
static int grow_boxes(struct top_model *model, struct top_size flame)
{
	uint32_t first = (uint32_t)model->common.count;

	for (uint32_t at = first; model->climbs.count > 0 && at - first < flame.rows - 1; at++) {
		size_t kept = 0;

		for (size_t i = 0; i < model->climbs.count; i++) {
			struct top_climb climb = model->climbs.items[i];

			if (at >= climb.count || !is_seen(model, climb.box, flame.columns))
				continue;
			climb.box =
				child_of(model, climb.box, model->climbed.items[climb.first + at]);
			if (climb.box == ID_NONE)
				return -ENOMEM;
			model->grown.items[climb.box].total += climb.value;
			model->climbs.items[kept++] = climb;
		}
		model->climbs.count = kept;
	}
	return 0;
}

static uint32_t seen_levels(const struct top_model *model, uint32_t columns)
{
	uint32_t levels = 0;

	for (uint32_t i = 1; i < model->grown.count; i++)
		if (model->grown.items[i].depth > levels && is_seen(model, i, columns))
			levels = model->grown.items[i].depth;
	return levels;
}

/*
 * Puts the functions that all stacks start with below the other boxes. If not all fit, as many are
 * left out as the visible boxes need, and the lowest box says so. 0 or -ENOMEM.
 */
static int grow_stem(struct top_model *model, struct top_size flame)
{
	size_t levels = model->common.count + seen_levels(model, flame.columns);
	size_t more = levels > flame.rows - 1 ? levels - (flame.rows - 1) : 0;
	size_t left_out = more < model->common.count ? more : model->common.count;
	uint32_t stem = (uint32_t)(model->common.count - left_out);
	uint32_t grown = (uint32_t)model->grown.count;

	if (left_out > 0)
		model->grown.items[0].function = model->common.items[left_out - 1];
	for (uint32_t i = 1; i < grown && stem > 0; i++) {
		model->grown.items[i].depth += stem;
		if (model->grown.items[i].parent == 0)
			model->grown.items[i].parent = grown + stem - 1;
	}
	for (uint32_t i = 0; i < stem; i++)
		if (vec_push(&model->grown,
			     (struct top_box){.parent = i == 0 ? 0 : grown + i - 1,
					      .function = model->common.items[left_out + i],
					      .depth = i + 1,
					      .total = model->grown.items[0].total}) < 0)
			return -ENOMEM;
	return 0;
}

static int add_entry(struct top_model *model, uint32_t entry, const struct top_state *state,
		     uint32_t rows)
{
	const struct profile_entry *item = &model->profile->entries.items[entry];
	const char *focus = top_state_focus(state);
	int64_t value = profile_entry_values(model->profile, entry)[model->value];
	size_t shown;

	model->all += value;
	model->thread_sums.items[item->thread] += value;
	if (state->thread != 0 && model->profile->threads.items[item->thread].tid != state->thread)
		return 0;
	if (read_path(model, item->stack) < 0)
		return -ENOMEM;
	shown = find_focus(model, focus);
	if (focus && shown == 0)
		return 0;
	model->whole += value;
	add_functions(model, entry, value);
	return rows > 0 ? begin_climb(model, shown, rows, value) : 0;
}

struct order {
	const struct top_model *model;
	enum top_sort sort;
};

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct top_function *x = a;
	const struct top_function *y = b;
	const struct order *order = context;
	const struct profile *profile = order->model->profile;
	int64_t left = order->sort == TOP_BY_TOTAL ? x->total : x->self;
	int64_t right = order->sort == TOP_BY_TOTAL ? y->total : y->self;
	int r;

	if (order->sort != TOP_BY_NAME && left != right)
		return left > right ? -1 : 1;
	if (order->sort == TOP_BY_SELF && x->total != y->total)
		return x->total > y->total ? -1 : 1;
	r = strcmp(function_name(profile, x->function), function_name(profile, y->function));
	return r ? r : (x->function > y->function) - (x->function < y->function);
}

static int compare_threads(const void *a, const void *b)
{
	const struct top_thread *x = a;
	const struct top_thread *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int list_functions(struct top_model *model, const struct top_state *state)
{
	struct order order = {model, state->sort};

	for (size_t i = 0; i < model->sums.count; i++) {
		const struct top_function *sum = &model->sums.items[i];

		if (sum->total > 0 &&
		    top_state_matches(state, function_name(model->profile, sum->function)) &&
		    vec_push(&model->functions, *sum) < 0)
			return -ENOMEM;
	}
	if (model->functions.count > 0)
		qsort_r(model->functions.items, model->functions.count,
			sizeof(*model->functions.items), compare_functions, &order);
	return 0;
}

static int list_threads(struct top_model *model, const struct top_state *state)
{
	const struct profile *profile = model->profile;

	for (size_t i = 0; i < model->thread_sums.count; i++) {
		struct top_thread thread = {(uint32_t)i, model->thread_sums.items[i]};

		if (thread.value > 0 &&
		    top_state_matches(state,
				      profile_text(profile, profile->threads.items[i].comm)) &&
		    vec_push(&model->threads, thread) < 0)
			return -ENOMEM;
	}
	if (model->threads.count > 0)
		qsort(model->threads.items, model->threads.count, sizeof(*model->threads.items),
		      compare_threads);
	return 0;
}

/* By parent and name, so that boxes keep their positions when their sizes change. */
static int compare_boxes(const void *a, const void *b, void *context)
{
	const struct top_model *model = context;
	const struct top_box *x = &model->grown.items[*(const uint32_t *)a];
	const struct top_box *y = &model->grown.items[*(const uint32_t *)b];
	int r;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	r = strcmp(function_name(model->profile, x->function),
		   function_name(model->profile, y->function));
	return r ? r : (x->function > y->function) - (x->function < y->function);
}

/* The sorted ids of boxes with at least half a column. 0 or -ENOMEM. */
static int order_boxes(struct top_model *model, uint32_t columns)
{
	model->order.count = 0;
	for (uint32_t i = 1; i < model->grown.count; i++)
		if (is_seen(model, i, columns) && vec_push(&model->order, i) < 0)
			return -ENOMEM;
	if (model->order.count > 0)
		qsort_r(model->order.items, model->order.count, sizeof(*model->order.items),
			compare_boxes, model);
	return 0;
}

/* The position of the first child of a box in the order. */
static size_t first_child(const struct top_model *model, uint32_t parent)
{
	size_t low = 0;
	size_t high = model->order.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (model->grown.items[model->order.items[middle]].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The edge of a part of a parent's width, shared with its neighbour. */
static uint32_t edge(const struct top_box *parent, int64_t before)
{
	return parent->column +
	       (uint32_t)((double)parent->width * (double)before / (double)parent->total + 0.5);
}

/* Places the children of a box; grown is its id in model->grown. 0 or -ENOMEM. */
static int place_children(struct top_model *model, uint32_t parent, uint32_t grown)
{
	struct top_box above = model->boxes.items[parent];
	int64_t before = 0;

	for (size_t i = first_child(model, grown); i < model->order.count; i++) {
		struct top_box box = model->grown.items[model->order.items[i]];

		if (box.parent != grown)
			break;
		box.parent = parent;
		box.column = edge(&above, before);
		before += box.total;
		box.width = edge(&above, before) - box.column;
		if (box.width > 0 && (vec_push(&model->boxes, box) < 0 ||
				      vec_push(&model->path, model->order.items[i]) < 0))
			return -ENOMEM;
	}
	return 0;
}

/* Places the boxes level by level. Boxes without a column are left out. 0 or -ENOMEM. */
static int place_boxes(struct top_model *model, struct top_size flame)
{
	model->path.count = 0; /* reused: by box, its id in model->grown */
	model->grown.items[0].width = flame.columns;
	if (grow_boxes(model, flame) < 0 || grow_stem(model, flame) < 0 ||
	    order_boxes(model, flame.columns) < 0 ||
	    vec_push(&model->boxes, model->grown.items[0]) < 0 || vec_push(&model->path, 0) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->boxes.count; i++)
		if (place_children(model, i, model->path.items[i]) < 0)
			return -ENOMEM;
	return 0;
}

const char *top_model_box_name(const struct top_model *model, const struct top_box *box)
{
	return box->function == ID_NONE ? "all" : function_name(model->profile, box->function);
}

uint64_t top_model_home(const struct profile *profile, uint32_t function)
{
	const struct profile_function *item = &profile->functions.items[function];

	return hash_pair(hash_text(profile_text(profile, item->module)),
			 hash_text(profile_text(profile, item->file)));
}

uint64_t top_model_path(const struct top_model *model, size_t box)
{
	uint64_t hash = 0;

	for (; box != 0; box = model->boxes.items[box].parent) {
		uint32_t function = model->boxes.items[box].function;

		hash = hash_pair(hash, hash_text(function_name(model->profile, function)));
		hash = hash_pair(hash, top_model_home(model->profile, function));
	}
	return hash;
}

size_t top_model_chosen_box(const struct top_model *model, const struct top_state *state)
{
	for (size_t i = 1; i < model->boxes.count; i++)
		if (model->boxes.items[i].depth == state->box_depth &&
		    top_state_is(state->box_name,
				 top_model_box_name(model, &model->boxes.items[i])) &&
		    state->box_path == top_model_path(model, i))
			return i;
	return 0;
}

int top_model_make(struct top_model *model, const struct profile *profile,
		   const struct top_state *state, struct top_size flame)
{
	int r = begin(model, profile);

	for (size_t i = 0; i < profile->entries.count && r == 0; i++)
		r = add_entry(model, (uint32_t)i, state, flame.rows);
	if (r == 0)
		r = list_functions(model, state);
	if (r == 0)
		r = list_threads(model, state);
	if (r == 0 && flame.rows > 0 && flame.columns > 0 && model->whole > 0)
		r = place_boxes(model, flame);
	return r;
}
