/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/address_rows.h"

#include <stdlib.h>

#include "base/vec.h"
#include "model/profile.h"

static int compare_rows(const void *a, const void *b)
{
	const struct address_row *x = a;
	const struct address_row *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* The innermost line of a wanted function at a location; NULL: none. */
static const struct profile_line *wanted_line(const struct profile *profile, uint32_t location,
					      const uint8_t *wanted)
{
	const struct profile_location *at = &profile->locations.items[location];

	for (uint32_t i = at->line_count; i-- > 0;) {
		const struct profile_line *line = &profile->lines.items[at->first_line + i];

		if (wanted[line->function])
			return line;
	}
	return NULL;
}

/* Merges sorted rows with the same address. Returns how many are left. */
static size_t unite(struct address_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare_rows(&rows[kept - 1], &rows[i]) == 0) {
			rows[kept - 1].self += rows[i].self;
			rows[kept - 1].samples += rows[i].samples;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

int address_rows_new(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		     struct address_row **ret, size_t *ret_count)
{
	VEC(struct address_row) rows = {0};

	for (size_t i = 0; i < profile->entries.count; i++) {
		uint32_t leaf = profile->entries.items[i].stack;
		const int64_t *values = profile_entry_values(profile, i);
		uint32_t location = profile->stacks.nodes.items[leaf].frame;
		const struct profile_line *line =
			leaf != 0 ? wanted_line(profile, location, wanted) : NULL;
		struct address_row row = {.self = values[value], .samples = (uint64_t)values[0]};

		if (!line)
			continue;
		row.line = line->line;
		row.module = profile->locations.items[location].module;
		row.vaddr = profile->locations.items[location].vaddr;
		if (vec_push(&rows, row) < 0) {
			vec_fini(&rows);
			return -ENOMEM;
		}
	}
	if (rows.count > 0)
		qsort(rows.items, rows.count, sizeof(*rows.items), compare_rows);
	*ret_count = unite(rows.items, rows.count);
	*ret = rows.items;
	return 0;
}
