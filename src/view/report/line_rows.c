/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/line_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/profile.h"

struct tally {
	const struct profile *profile;
	const uint8_t *wanted; /* by function; NULL: all */
	uint32_t value;
	size_t counted; /* the last entry that counted for the sum, plus one */
	struct line_row sum;
	VEC(struct line_row) rows;
	VEC(size_t) seen; /* by row: the last entry that counted for its total, plus one */
	struct id_index index;
};

static bool is_same(const struct profile *profile, const struct line_row *row,
		    struct profile_line line)
{
	const struct profile_function *a = &profile->functions.items[row->function];
	const struct profile_function *b = &profile->functions.items[line.function];

	if (row->line != line.line || row->file != profile_line_file(profile, line))
		return false;
	return row->function == line.function || (line.line > 0 && a->module == b->module);
}

/* The row of a line, created if missing; ID_NONE: out of memory. */
static uint32_t row_of(struct tally *tally, struct profile_line line)
{
	uint32_t file = profile_line_file(tally->profile, line);
	uint64_t hash =
		line.line > 0 ? hash_pair(file, line.line) : hash_pair(line.function, UINT64_MAX);
	struct id_probe probe = id_index_probe(&tally->index, hash);
	struct line_row row = {.function = line.function, .line = line.line, .file = file};
	uint32_t id;

	while ((id = id_probe_next(&tally->index, &probe)) != ID_NONE)
		if (is_same(tally->profile, &tally->rows.items[id], line))
			return id;
	id = (uint32_t)tally->rows.count;
	if (vec_push(&tally->rows, row) < 0 || vec_push(&tally->seen, 0) < 0 ||
	    id_index_add(&tally->index, hash, id) < 0)
		return ID_NONE;
	return id;
}

static void add_self(struct line_row *row, const int64_t *values, uint32_t value, bool inlined)
{
	row->self += values[value];
	row->self_samples += (uint64_t)values[0];
	if (inlined)
		row->self_inlined += values[value];
}

static void add_total(struct line_row *row, const int64_t *values, uint32_t value)
{
	row->total += values[value];
	row->samples += (uint64_t)values[0];
}

static int add_location(struct tally *tally, uint32_t location, size_t entry, bool is_leaf)
{
	const struct profile *profile = tally->profile;
	const struct profile_location *at = &profile->locations.items[location];
	const int64_t *values = profile_entry_values(profile, entry);

	/* Starting at the innermost inlined function: self cost goes to the first that counts. */
	for (uint32_t i = at->line_count; i-- > 0;) {
		struct profile_line line = profile->lines.items[at->first_line + i];
		uint32_t id;

		if (tally->wanted && !tally->wanted[line.function])
			continue;
		id = row_of(tally, line);
		if (id == ID_NONE)
			return -ENOMEM;
		if (is_leaf) {
			add_self(&tally->rows.items[id], values, tally->value,
				 i + 1 < at->line_count);
			add_self(&tally->sum, values, tally->value, i + 1 < at->line_count);
		}
		is_leaf = false;
		if (tally->counted != entry + 1)
			add_total(&tally->sum, values, tally->value);
		tally->counted = entry + 1;
		if (tally->seen.items[id] != entry + 1)
			add_total(&tally->rows.items[id], values, tally->value);
		tally->seen.items[id] = entry + 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct line_row *x = a;
	const struct line_row *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int line_rows_new(const struct profile *profile, uint32_t value, struct line_row **ret,
		  size_t *ret_count)
{
	struct line_row sum;

	return line_rows_of(profile, value, NULL, ret, ret_count, &sum);
}

int line_rows_of(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		 struct line_row **ret, size_t *ret_count, struct line_row *ret_sum)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	struct tally tally = {.profile = profile, .wanted = wanted, .value = value};
	int r = 0;

	for (size_t i = 0; i < profile->entries.count && r == 0; i++) {
		uint32_t leaf = profile->entries.items[i].stack;

		for (uint32_t at = leaf; at != 0 && r == 0; at = nodes[at].parent)
			r = add_location(&tally, nodes[at].frame, i, at == leaf);
	}
	id_index_fini(&tally.index);
	vec_fini(&tally.seen);
	if (r < 0) {
		vec_fini(&tally.rows);
		return r;
	}
	if (tally.rows.count > 0)
		qsort(tally.rows.items, tally.rows.count, sizeof(*tally.rows.items), compare_rows);
	*ret = tally.rows.items;
	*ret_count = tally.rows.count;
	*ret_sum = tally.sum;
	return 0;
}
