/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/function_cost.h"

#include <stdlib.h>

#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"

/* The cost of a row in the current slice and in the previous one. */
struct pace {
	double self;
	double total;
	double last_self;
	double last_total;
	bool active; /* one of these is not 0 */
};

struct counter {
	const struct profile *profile;
	const uint32_t *row_of;
	uint32_t value;
	struct cost_table *table;
	uint32_t *seen; /* by row: the last visit that counted it */
	uint32_t visit;
	struct pace *paces;
	VEC(uint32_t) active; /* rows */
	VEC(uint32_t) passed; /* rows of the current stack */
};

/* Lists the rows that a stack passes through. Returns the row it ends in. */
static int visit_stack(struct counter *counter, uint32_t stack, uint32_t *ret_leaf)
{
	const struct profile *profile = counter->profile;
	uint32_t at;

	counter->visit++;
	counter->passed.count = 0;
	*ret_leaf = ID_NONE;
	for (at = stack; at != 0; at = profile->stacks.nodes.items[at].parent) {
		uint32_t id = profile->stacks.nodes.items[at].frame;
		struct profile_location location = profile->locations.items[id];
		uint32_t i;

		for (i = 0; i < location.line_count; i++) {
			uint32_t function = profile->lines.items[location.first_line + i].function;
			uint32_t row = counter->row_of[function];

			if (at == stack && i + 1 == location.line_count)
				*ret_leaf = row;
			if (row == ID_NONE || counter->seen[row] == counter->visit)
				continue;
			counter->seen[row] = counter->visit;
			if (vec_push(&counter->passed, row) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static void add_cost(struct cost *cost, int64_t weight, uint64_t samples)
{
	cost->weight += weight;
	cost->samples += samples;
}

static int count_entries(struct counter *counter)
{
	const struct profile *profile = counter->profile;
	struct function_cost *rows = counter->table->rows;
	uint32_t counted = call_tree_samples_value(profile);
	size_t i;
	size_t k;

	for (i = 0; i < profile->entries.count; i++) {
		const int64_t *values = profile_entry_values(profile, i);
		uint64_t samples = counted == ID_NONE ? 0 : (uint64_t)values[counted];
		uint32_t leaf;

		if (visit_stack(counter, profile->entries.items[i].stack, &leaf) < 0)
			return -ENOMEM;
		add_cost(&counter->table->whole, values[counter->value], samples);
		for (k = 0; k < counter->passed.count; k++)
			add_cost(&rows[counter->passed.items[k]].total, values[counter->value],
				 samples);
		if (leaf != ID_NONE)
			add_cost(&rows[leaf].self, values[counter->value], samples);
	}
	return 0;
}

/* Slices */

/* The moments in the order of their slices: a counting sort. */
static int order_moments(const struct profile *profile, uint32_t slices, uint32_t *order)
{
	SCOPED(mem) uint32_t *starts = calloc((size_t)slices + 1, sizeof(*starts));
	size_t i;

	if (!starts)
		return -ENOMEM;
	for (i = 0; i < profile->moments.count; i++)
		starts[profile->moments.items[i].slice + 1]++;
	for (i = 0; i < slices; i++)
		starts[i + 1] += starts[i];
	for (i = 0; i < profile->moments.count; i++)
		order[starts[profile->moments.items[i].slice]++] = (uint32_t)i;
	return 0;
}

static int add_moment(struct counter *counter, const struct profile_moment *moment)
{
	double value = (double)moment->values[counter->value];
	uint32_t leaf;
	size_t i;

	if (visit_stack(counter, moment->stack, &leaf) < 0)
		return -ENOMEM;
	for (i = 0; i < counter->passed.count; i++) {
		uint32_t row = counter->passed.items[i];
		struct pace *pace = &counter->paces[row];

		if (!pace->active && vec_push(&counter->active, row) < 0)
			return -ENOMEM;
		pace->active = true;
		pace->total += value;
		pace->self += row == leaf ? value : 0;
	}
	return 0;
}

static void add_step(struct cost *cost, double step, double whole_step)
{
	cost->steps += step * step;
	cost->joint += step * whole_step;
}

/* Adds the differences of all rows to the slice that is now complete. */
static void end_slice(struct counter *counter, double whole_step, bool first)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < counter->active.count; i++) {
		uint32_t row = counter->active.items[i];
		struct pace *pace = &counter->paces[row];
		struct function_cost *costs = &counter->table->rows[row];

		if (!first) {
			add_step(&costs->self, pace->self - pace->last_self, whole_step);
			add_step(&costs->total, pace->total - pace->last_total, whole_step);
		}
		*pace = (struct pace){.last_self = pace->self, .last_total = pace->total};
		pace->active = pace->last_self != 0 || pace->last_total != 0;
		if (pace->active)
			counter->active.items[kept++] = row;
	}
	counter->active.count = kept;
}

static int count_slices(struct counter *counter)
{
	const struct profile *profile = counter->profile;
	struct cost_table *table = counter->table;
	SCOPED(mem) uint32_t *order = calloc(profile->moments.count + 1, sizeof(*order));
	double last = 0;
	uint32_t slice;
	size_t i;

	if (!order || order_moments(profile, table->slices, order) < 0)
		return -ENOMEM;
	for (slice = 0, i = 0; slice < table->slices; slice++) {
		double whole = 0;

		for (;
		     i < profile->moments.count && profile->moments.items[order[i]].slice == slice;
		     i++) {
			const struct profile_moment *moment = &profile->moments.items[order[i]];

			whole += (double)moment->values[counter->value];
			if (add_moment(counter, moment) < 0)
				return -ENOMEM;
		}
		if (slice > 0)
			add_step(&table->whole, whole - last, whole - last);
		end_slice(counter, whole - last, slice == 0);
		last = whole;
	}
	return 0;
}

int cost_table_init(struct cost_table *table, const struct profile *profile, uint32_t value,
		    const uint32_t *row_of, size_t count)
{
	struct counter counter = {
		.profile = profile, .row_of = row_of, .value = value, .table = table};
	size_t i;
	int r = -ENOMEM;

	*table = (struct cost_table){.count = count,
				     .exact = call_tree_samples_value(profile) == ID_NONE};
	for (i = 0;
	     value < ARRAY_SIZE(profile->moments.items->values) && i < profile->moments.count; i++)
		if (profile->moments.items[i].slice >= table->slices)
			table->slices = profile->moments.items[i].slice + 1;
	table->rows = calloc(count + 1, sizeof(*table->rows));
	counter.seen = calloc(count + 1, sizeof(*counter.seen));
	counter.paces = calloc(count + 1, sizeof(*counter.paces));
	if (table->rows && counter.seen && counter.paces)
		r = count_entries(&counter);
	if (r == 0 && table->slices > 0)
		r = count_slices(&counter);
	free(counter.seen);
	free(counter.paces);
	vec_fini(&counter.active);
	vec_fini(&counter.passed);
	if (r < 0)
		cost_table_fini(table);
	return r;
}

void cost_table_fini(struct cost_table *table)
{
	free(table->rows);
	*table = (struct cost_table){0};
}
