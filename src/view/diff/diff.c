/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/diff/diff_rows.h"

/* Formats that do not say which time they measure call it "time", which matches any. */
static bool same_type(const struct value_type *a, const struct value_type *b)
{
	return strcmp(a->unit, b->unit) == 0 &&
	       (strcmp(a->name, b->name) == 0 || strcmp(a->name, "time") == 0 ||
		strcmp(b->name, "time") == 0);
}

/* Whether a profile has only sample counts, like folded stacks. */
static bool only_counts(const struct profile *profile)
{
	return profile->value_count == 1 && call_tree_samples_value(profile) == 0;
}

/* Uses the main value of one side if the other also has it, but not as its main value. */
static bool find_common(struct diff *diff)
{
	int main;

	for (main = 1; main >= 0; main--) { /* after is more interesting */
		const struct profile *other = diff->sides[1 - main];
		uint32_t wanted = diff->sides[main]->main_value;
		const struct value_type *type = &diff->sides[main]->value_types[wanted];
		uint32_t i;

		for (i = 0; i < other->value_count; i++) {
			if (strcmp(other->value_types[i].name, type->name) != 0 ||
			    strcmp(other->value_types[i].unit, type->unit) != 0)
				continue;
			diff->values[main] = wanted;
			diff->values[1 - main] = i;
			return true;
		}
	}
	return false;
}

static int choose_values(struct diff *diff, struct error *err)
{
	const struct profile *const *sides = diff->sides;
	struct value_type types[2];
	int i;

	for (i = 0; i < 2; i++) {
		diff->values[i] = sides[i]->main_value;
		types[i] = sides[i]->value_types[diff->values[i]];
	}
	if (same_type(&types[0], &types[1]))
		return 0;
	if ((only_counts(sides[0]) || only_counts(sides[1])) &&
	    call_tree_samples_value(sides[0]) != ID_NONE &&
	    call_tree_samples_value(sides[1]) != ID_NONE) {
		diff->values[0] = call_tree_samples_value(sides[0]);
		diff->values[1] = call_tree_samples_value(sides[1]);
		diff->counted = true;
		return 0;
	}
	if (find_common(diff))
		return 0;
	(void)error_set(err, -EINVAL,
			"%s measures %s (%s), %s measures %s (%s): they cannot be compared",
			diff->names[0], types[0].name, types[0].unit, diff->names[1], types[1].name,
			types[1].unit);
	error_remedy(err, "record both with the same --mode and -e, or choose with --event");
	return -EINVAL;
}

static int count(struct diff *diff)
{
	int i;

	if (profile_pair_init(&diff->pair, diff->sides, diff->values) < 0)
		return -ENOMEM;
	for (i = 0; i < 2; i++)
		if (cost_table_init(&diff->costs[i], diff->sides[i], diff->values[i],
				    diff->pair.functions[i], diff->pair.both->functions.count) < 0)
			return -ENOMEM;
	return 0;
}

int diff_init(struct diff *diff, const struct profile *const sides[2], const char *const names[2],
	      enum diff_measure measure, struct error *err)
{
	int r;

	*diff = (struct diff){
		.sides = {sides[0], sides[1]},
		.names = {names[0], names[1]},
		.exact = call_tree_samples_value(sides[0]) == ID_NONE &&
			 call_tree_samples_value(sides[1]) == ID_NONE,
	};
	diff->absolute = measure == DIFF_AMOUNTS || (measure == DIFF_USUAL && diff->exact);
	r = choose_values(diff, err);
	if (r < 0)
		return r;
	if (count(diff) < 0) {
		diff_fini(diff);
		return error_set(err, -ENOMEM, "cannot compare the profiles: no memory");
	}
	return 0;
}

void diff_fini(struct diff *diff)
{
	profile_pair_fini(&diff->pair);
	cost_table_fini(&diff->costs[0]);
	cost_table_fini(&diff->costs[1]);
}

double diff_whole_confidence(const struct diff *diff)
{
	struct estimate old = estimate_amount(&diff->costs[0].whole, &diff->costs[0]);
	struct estimate now = estimate_amount(&diff->costs[1].whole, &diff->costs[1]);

	return significance_differ(&old, &now);
}

struct estimate diff_estimate(const struct diff *diff, const struct cost *cost,
			      const struct cost_table *table)
{
	return diff->absolute ? estimate_amount(cost, table) : estimate_share(cost, table);
}

/* Rows */

static double share_of(const struct cost *cost, const struct cost_table *table)
{
	return table->whole.weight ? (double)cost->weight / (double)table->whole.weight : 0;
}

static struct diff_change change_of(const struct diff *diff, const struct cost *before,
				    const struct cost *after)
{
	struct estimate old = diff_estimate(diff, before, &diff->costs[0]);
	struct estimate now = diff_estimate(diff, after, &diff->costs[1]);

	return (struct diff_change){
		.before = before->weight,
		.after = after->weight,
		.before_share = share_of(before, &diff->costs[0]),
		.after_share = share_of(after, &diff->costs[1]),
		.before_value = old.value,
		.after_value = now.value,
		.confidence = significance_differ(&old, &now),
	};
}

static void fill_row(const struct diff *diff, uint32_t function, struct diff_row *row)
{
	const struct profile *both = diff->pair.both;
	const struct function_cost *before = &diff->costs[0].rows[function];
	const struct function_cost *after = &diff->costs[1].rows[function];
	struct profile_function known = both->functions.items[function];

	*row = (struct diff_row){
		.name = profile_text(both, known.name),
		.module = profile_text(both, known.module),
		.file = profile_text(both, known.file),
		.self = change_of(diff, &before->self, &after->self),
		.total = change_of(diff, &before->total, &after->total),
	};
	row->state = before->total.weight == 0  ? DIFF_NEW
		     : after->total.weight == 0 ? DIFF_GONE
						: DIFF_BOTH;
}

static double size_of(const struct diff_change *change)
{
	return fabs(change->after_value - change->before_value);
}

/* The sort key of rows, largest first. */
static double key_of(const struct diff_row *row, enum diff_sort sort)
{
	if (sort == DIFF_BY_BEFORE)
		return row->total.before_value;
	if (sort == DIFF_BY_AFTER)
		return row->total.after_value;
	return size_of(sort == DIFF_BY_SELF ? &row->self : &row->total);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct diff_row *x = a;
	const struct diff_row *y = b;
	enum diff_sort sort = *(const enum diff_sort *)context;
	/* Among unchanged rows, larger ones come first. */
	const double keys[][2] = {{key_of(x, sort), key_of(y, sort)},
				  {size_of(&x->total), size_of(&y->total)},
				  {x->total.after_value, y->total.after_value}};
	size_t i;
	int order;

	for (i = 0; sort != DIFF_BY_NAME && i < ARRAY_SIZE(keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (order == 0)
		order = strcmp(x->module, y->module);
	return order ? order : strcmp(x->file, y->file);
}

/* Functions without samples on either side, left over by filters. */
static bool is_empty(const struct diff *diff, uint32_t function)
{
	return diff->costs[0].rows[function].total.weight == 0 &&
	       diff->costs[1].rows[function].total.weight == 0;
}

static bool is_noise(const struct diff_row *row)
{
	return row->self.confidence < DIFF_NOISE && row->total.confidence < DIFF_NOISE;
}

int diff_write(const struct diff *diff, const struct diff_options *options, struct bytes *out,
	       struct error *err)
{
	static void (*const writers[])(const struct diff_table *table, struct bytes *out) = {
		[DIFF_TEXT] = diff_put_text,
		[DIFF_JSON] = diff_put_json,
		[DIFF_CSV] = diff_put_csv,
	};
	uint32_t functions = (uint32_t)diff->pair.both->functions.count;
	SCOPED(mem) struct diff_row *rows = calloc((size_t)functions + 1, sizeof(*rows));
	struct diff_table table = {.diff = diff, .options = options, .rows = rows};
	enum diff_sort sort = options->sort;
	uint32_t i;

	for (i = 0; rows && i < functions; i++) {
		if (is_empty(diff, i))
			continue;
		fill_row(diff, i, &rows[table.count]);
		if (options->format == DIFF_TEXT && !options->all && is_noise(&rows[table.count]))
			table.noise++;
		else
			table.count++;
	}
	if (rows) {
		qsort_r(rows, table.count, sizeof(*rows), compare_rows, &sort);
		table.shown = options->limit && options->limit < table.count ? options->limit
									     : table.count;
		writers[options->format](&table, out);
	}
	if (!rows || out->failed)
		return error_set(err, -ENOMEM, "cannot write the comparison: no memory");
	return 0;
}
