/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/site_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "heap/allocators.h"
#include "heap/report.h"
#include "model/profile.h"

struct search {
	const struct profile *profile;
	uint32_t *of_site; /* the numbers of rows before they are sorted */
	struct allocators allocators;
	struct allocation_lines lines;
	VEC(struct site_row) rows;
	struct id_index index;
};

/* The row of a site, created if missing; NULL: out of memory. */
static struct site_row *row_of(struct search *search, struct profile_line line)
{
	uint32_t file = profile_line_file(search->profile, line);
	uint64_t hash = hash_pair(line.function, (uint64_t)file << 32 | line.line);
	struct id_probe probe = id_index_probe(&search->index, hash);
	struct site_row row = {.function = line.function,
			       .file = file,
			       .line = line.line,
			       .site = ID_NONE,
			       .number = (uint32_t)search->rows.count,
			       .more = {.first_ns = UINT64_MAX, .size_min = UINT64_MAX}};
	uint32_t id;

	while ((id = id_probe_next(&search->index, &probe)) != ID_NONE) {
		struct site_row *known = &search->rows.items[id];

		if (known->function == line.function && known->file == file &&
		    known->line == line.line)
			return known;
	}
	id = (uint32_t)search->rows.count;
	if (vec_push(&search->rows, row) < 0 || id_index_add(&search->index, hash, id) < 0)
		return NULL;
	return &search->rows.items[id];
}

static void add_sum(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

static void add_site(struct site_row *row, const struct heap_report *report, uint32_t id,
		     const struct heap_site_sums *sums)
{
	const struct heap_site *site = &report->sites.sites.items[id];
	struct heap_site *more = &row->more;

	if (row->site == ID_NONE || sums[id].peak.bytes > sums[row->site].peak.bytes)
		row->site = id;
	row->stacks++;
	if (report->end_ns > site->first_ns && report->end_ns - site->first_ns > row->longest_ns)
		row->longest_ns = report->end_ns - site->first_ns;
	add_sum(&row->sums.allocated, sums[id].allocated);
	add_sum(&row->sums.live, sums[id].live);
	add_sum(&row->sums.peak, sums[id].peak);
	row->sums.temporary_blocks += sums[id].temporary_blocks;
	if (site->first_ns < more->first_ns)
		more->first_ns = site->first_ns;
	if (site->last_ns > more->last_ns)
		more->last_ns = site->last_ns;
	if (site->size_min < more->size_min)
		more->size_min = site->size_min;
	if (site->size_max > more->size_max)
		more->size_max = site->size_max;
	more->slack_bytes += site->slack_bytes;
	more->reallocs += site->reallocs;
	more->freed_blocks += site->freed_blocks;
	more->foreign_blocks += site->foreign_blocks;
	more->moved_blocks += site->moved_blocks;
	more->lifetime_ns += site->lifetime_ns;
	for (uint32_t i = 0; i < HEAP_LIFETIMES; i++)
		row->lifetimes.blocks[i] += report->sites.lifetimes.items[id].blocks[i];
}

/* Lifetimes are counted in powers of two, so the last may exceed the recording. */
uint64_t site_row_lifetime_ns(const struct site_row *row)
{
	uint64_t median_ns = heap_lifetimes_quantile_ns(&row->lifetimes, 0.5);

	return median_ns < row->longest_ns ? median_ns : row->longest_ns;
}

static int compare(const void *a, const void *b)
{
	const struct site_row *x = a;
	const struct site_row *y = b;

	if (x->sums.peak.bytes != y->sums.peak.bytes)
		return x->sums.peak.bytes < y->sums.peak.bytes ? 1 : -1;
	if (x->sums.allocated.bytes != y->sums.allocated.bytes)
		return x->sums.allocated.bytes < y->sums.allocated.bytes ? 1 : -1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int add_all(struct search *search, const struct heap_report *report, const uint32_t *stacks)
{
	SCOPED(mem)
	struct heap_site_sums *sums = heap_sites_sums(&report->sites, report->totals.peak_number);

	if (allocators_init(&search->allocators, search->profile) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; sums && i < report->sites.sites.count; i++) {
		struct allocation_lines *lines = &search->lines;
		struct site_row *row;

		search->of_site[i] = ID_NONE;
		if (stacks[i] == ID_NONE)
			continue;
		if (allocators_lines(&search->allocators, stacks[i], SIZE_MAX, lines) < 0)
			return -ENOMEM;
		if (lines->items.count == 0)
			continue;
		row = row_of(search,
			     search->profile->lines.items[lines->items.items[lines->place].line]);
		if (!row)
			return -ENOMEM;
		search->of_site[i] = row->number;
		add_site(row, report, i, sums);
	}
	return sums ? 0 : -ENOMEM;
}

/* Sorts the rows and updates of_site. 0 or -ENOMEM. */
static int sort(struct site_rows *rows, size_t sites)
{
	SCOPED(mem) uint32_t *places = calloc(rows->count + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	if (rows->count > 0)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare);
	for (uint32_t i = 0; i < rows->count; i++)
		places[rows->items[i].number] = i;
	for (size_t i = 0; i < sites; i++)
		if (rows->of_site[i] != ID_NONE)
			rows->of_site[i] = places[rows->of_site[i]];
	return 0;
}

int site_rows_init(const struct profile *profile, const struct heap_report *report,
		   const uint32_t *stacks, struct site_rows *ret)
{
	size_t sites = report->sites.sites.count;
	struct search search = {.profile = profile};
	int r;

	search.of_site = calloc(sites + 1, sizeof(*search.of_site));
	r = search.of_site ? add_all(&search, report, stacks) : -ENOMEM;
	allocators_fini(&search.allocators);
	vec_fini(&search.lines.items);
	id_index_fini(&search.index);
	*ret = (struct site_rows){search.rows.items, search.rows.count, search.of_site};
	return r < 0 ? r : sort(ret, sites);
}

void site_rows_fini(struct site_rows *rows)
{
	free(rows->items);
	free(rows->of_site);
	*rows = (struct site_rows){0};
}
