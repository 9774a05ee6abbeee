/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_rows.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "heap/allocators.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/leak/leak_confidence.h"
#include "heap/leak/suppressions.h"
#include "heap/report.h"
#include "heap/timeline/findings.h"
#include "model/profile.h"

_Static_assert(1u << LEAK_GROWTH == SUPPRESS_GROWTH, "rules name the kinds of rows");
_Static_assert(1u << LEAK_UNSCANNED == SUPPRESS_UNSCANNED, "rules name the kinds of rows");

#define LIFETIME_SHARE 5u /* first part of the run: what is allocated in it is meant to stay */

/* Blocks with equal properties, before they become rows. */
struct piece {
	struct leak_row row;
	uint32_t stack;
	uint64_t size_bytes; /* of each block */
};

/* A key by its first callers, for stacks that were truncated after these. */
struct key_start {
	struct leak_key key; /* callers after the first ones are ID_NONE */
	uint32_t callers;
	uint32_t id; /* of the key; ID_NONE: several keys start like this */
};

struct search {
	const struct heap_profile *heap;
	const struct heap_report *report;
	const struct leak_filter *filter;
	struct leak_rows *rows;
	struct allocators allocators;
	struct allocation_lines lines;
	VEC(struct suppression_call) calls;
	struct id_index key_index;
	VEC(struct key_start) starts;
	struct id_index start_index;
	struct id_index row_index;
	uint32_t *of_site;          /* keys; ID_NONE: filtered out, or no stack */
	VEC(struct growth) growths; /* by key */
	double *kept_bytes;         /* by key: bytes left at the end */
	bool *is_scanned;           /* by thread of the profile */
};

const char *leak_kind_name(uint32_t kind)
{
	static const char *const names[LEAK_KINDS] = {
		[LEAK_DEFINITE] = "definite",   [LEAK_INDIRECT] = "indirect",
		[LEAK_PROBABLE] = "probable",   [LEAK_POSSIBLE] = "possible",
		[LEAK_REACHABLE] = "reachable", [LEAK_GROWTH] = "growth",
		[LEAK_UNSCANNED] = "unscanned",
	};

	return names[kind];
}

const char *leak_row_class(const struct leak_row *row)
{
	return row->is_lifetime ? "lifetime" : leak_kind_name(row->kind);
}

void leak_rows_fini(struct leak_rows *rows)
{
	vec_fini(&rows->items);
	vec_fini(&rows->stacks);
	vec_fini(&rows->keys);
	vec_fini(&rows->rules);
}

/* Keys */

static uint64_t key_hash(const struct leak_key *key)
{
	return hash_pair(hash_pair((uint64_t)key->function << 32 | key->file,
				   (uint64_t)key->line << 32 | key->callers[0]),
			 (uint64_t)key->callers[1] << 32 | key->callers[2]);
}

/* The key of the lines read last. */
static struct leak_key read_key(const struct search *search)
{
	const struct allocation_lines *lines = &search->lines;
	const struct profile *profile = search->heap->profile;
	struct profile_line place = profile->lines.items[lines->items.items[lines->place].line];
	struct leak_key key = {.function = place.function,
			       .file = profile_line_file(profile, place),
			       .line = place.line,
			       .certain = LEAK_CALLERS};

	for (size_t i = 0; i < LEAK_CALLERS; i++) {
		size_t at = lines->place + 1 + i;

		key.callers[i] =
			at < lines->items.count
				? profile->lines.items[lines->items.items[at].line].function
				: ID_NONE;
	}
	return key;
}

/* The number of its callers before the stack was truncated. */
static uint32_t count_callers(const struct search *search, const struct leak_key *key)
{
	const struct profile_function *functions = search->heap->profile->functions.items;
	uint32_t count = 0;

	while (count < LEAK_CALLERS && (key->callers[count] == ID_NONE ||
					functions[key->callers[count]].origin != ORIGIN_TRUNCATED))
		count++;
	return count;
}

static struct key_start start_of(const struct leak_key *key, uint32_t callers)
{
	struct key_start start = {.key = *key, .callers = callers, .id = ID_NONE};

	start.key.certain = 0;
	for (size_t i = callers; i < LEAK_CALLERS; i++)
		start.key.callers[i] = ID_NONE;
	return start;
}

static uint64_t start_hash(const struct key_start *start)
{
	return hash_pair(key_hash(&start->key), start->callers);
}

static struct key_start *find_start(struct search *search, const struct key_start *wanted)
{
	struct id_probe probe = id_index_probe(&search->start_index, start_hash(wanted));
	uint32_t id;

	while ((id = id_probe_next(&search->start_index, &probe)) != ID_NONE) {
		struct key_start *start = &search->starts.items[id];

		if (start->callers == wanted->callers &&
		    memcmp(&start->key, &wanted->key, sizeof(wanted->key)) == 0)
			return start;
	}
	return NULL;
}

/* Registers a key for truncated stacks. */
static int add_starts(struct search *search, const struct leak_key *key, uint32_t id)
{
	uint32_t callers = count_callers(search, key);

	for (uint32_t i = 0; i < callers; i++) {
		struct key_start start = start_of(key, i);
		struct key_start *known = find_start(search, &start);

		start.id = id;
		if (known)
			known->id = ID_NONE;
		else if (id_index_add(&search->start_index, start_hash(&start),
				      (uint32_t)search->starts.count) < 0 ||
			 vec_push(&search->starts, start) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* For a truncated stack: the only key that has its callers, and more. ID_NONE: none. */
static uint32_t find_longer(struct search *search, const struct leak_key *key)
{
	uint32_t callers = count_callers(search, key);
	struct key_start wanted = start_of(key, callers);
	struct key_start *start = callers < LEAK_CALLERS ? find_start(search, &wanted) : NULL;
	struct leak_key *longer;

	if (!start || start->id == ID_NONE)
		return ID_NONE;
	longer = &search->rows->keys.items[start->id];
	if (longer->certain > callers)
		longer->certain = callers;
	return start->id;
}

/* The key of the lines read last, created if missing; ID_NONE: out of memory. */
static uint32_t key_of_lines(struct search *search)
{
	struct leak_key key = read_key(search);
	struct id_probe probe = id_index_probe(&search->key_index, key_hash(&key));
	uint32_t id = find_longer(search, &key);

	if (id != ID_NONE)
		return id;
	while ((id = id_probe_next(&search->key_index, &probe)) != ID_NONE)
		if (memcmp(&search->rows->keys.items[id], &key,
			   offsetof(struct leak_key, certain)) == 0)
			return id;
	id = (uint32_t)search->rows->keys.count;
	if (vec_push(&search->rows->keys, key) < 0 ||
	    id_index_add(&search->key_index, key_hash(&key), id) < 0 ||
	    add_starts(search, &key, id) < 0)
		return ID_NONE;
	return id;
}

/* Reads the lines of a stack: 1, 0 if it has none, or -ENOMEM. */
static int read_lines(struct search *search, uint32_t stack)
{
	search->lines.items.count = 0;
	if (stack == ID_NONE)
		return 0;
	if (allocators_lines(&search->allocators, stack, SIZE_MAX, &search->lines) < 0)
		return -ENOMEM;
	return search->lines.items.count > 0;
}

/* Finds the key of a stack: 1, 0 if it has none, or -ENOMEM. */
static int find_key(struct search *search, uint32_t stack, uint32_t *ret)
{
	int r = read_lines(search, stack);

	*ret = ID_NONE;
	if (r <= 0)
		return r;
	*ret = key_of_lines(search);
	return *ret == ID_NONE ? -ENOMEM : 1;
}

/*
 * Finds the keys of all sites. Stacks with more callers come first, because others may be parts of
 * them.
 */
static int find_site_keys(struct search *search)
{
	size_t sites = search->report->sites.sites.count;
	SCOPED(mem) uint8_t *callers = calloc(sites + 1, sizeof(*callers));
	int r = callers ? 0 : -ENOMEM;

	for (size_t i = 0; i < sites && r >= 0; i++) {
		r = read_lines(search, search->heap->stacks[i]);
		if (r > 0) {
			struct leak_key key = read_key(search);

			callers[i] = (uint8_t)count_callers(search, &key);
		}
	}
	for (uint32_t count = LEAK_CALLERS + 1; count-- > 0 && r >= 0;)
		for (size_t i = 0; i < sites && r >= 0; i++)
			if (callers[i] == count)
				r = find_key(search, search->heap->stacks[i], &search->of_site[i]);
	return r < 0 ? r : 0;
}

static int find_growths(struct search *search)
{
	size_t sites = search->report->sites.sites.count;
	struct heap_groups groups;

	search->of_site = calloc(sites + 1, sizeof(*search->of_site));
	if (!search->of_site)
		return -ENOMEM;
	if (find_site_keys(search) < 0)
		return -ENOMEM;
	groups = (struct heap_groups){search->of_site, search->rows->keys.count};
	if (vec_reserve(&search->growths, groups.count + 1) < 0)
		return -ENOMEM;
	search->growths.count = groups.count;
	search->kept_bytes = calloc(groups.count + 1, sizeof(*search->kept_bytes));
	if (!search->kept_bytes)
		return -ENOMEM;
	return growth_find(search->report, &groups, search->growths.items);
}

/* Suppressions */

static int list_calls(struct search *search)
{
	const struct profile *profile = search->heap->profile;

	search->calls.count = 0;
	for (size_t i = 0; i < search->lines.items.count; i++) {
		const struct allocation_line *at = &search->lines.items.items[i];
		struct profile_line line = profile->lines.items[at->line];
		const struct profile_function *function = &profile->functions.items[line.function];

		if (vec_push(&search->calls,
			     (struct suppression_call){
				     profile_text(profile, function->name),
				     profile_text(profile, function->module),
				     profile_text(profile, profile_line_file(profile, line)),
				     line.line, at->allocates}) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* 1 if a rule suppresses it, 0, or -ENOMEM. The lines of its stack must have been read last. */
static int suppress(struct search *search, const struct piece *piece)
{
	const struct profile *profile = search->heap->profile;
	const struct leak_row *row = &piece->row;
	struct suppression_subject subject = {.kind = 1u << row->kind,
					      .size_bytes = piece->size_bytes,
					      .first_ns = row->first_ns,
					      .last_ns = row->last_ns,
					      .thread = "",
					      .place = search->lines.place};
	struct leak_amount *used;
	size_t rule;

	if (!search->filter->suppressions || search->filter->suppressions->rules.count == 0)
		return 0;
	if (list_calls(search) < 0)
		return -ENOMEM;
	subject.calls = search->calls.items;
	subject.call_count = search->calls.count;
	if (row->thread != ID_NONE)
		subject.thread = profile_text(profile, profile->threads.items[row->thread].comm);
	rule = suppressions_find(search->filter->suppressions, &subject);
	if (rule == SIZE_MAX)
		return 0;
	used = &search->rows->rules.items[rule];
	used->blocks += row->blocks;
	used->bytes += row->bytes;
	search->rows->suppressed.blocks += row->blocks;
	search->rows->suppressed.bytes += row->bytes;
	return 1;
}

/* Rows */

static uint64_t row_hash(const struct leak_row *row)
{
	return hash_pair(row->key, (uint64_t)row->kind << 1 | row->is_lifetime);
}

/* The row of a piece, created if missing; NULL: out of memory. */
static struct leak_row *row_of(struct search *search, const struct leak_row *piece)
{
	uint64_t hash = row_hash(piece);
	struct id_probe probe = id_index_probe(&search->row_index, hash);
	struct leak_row row = *piece;
	uint32_t id;

	while ((id = id_probe_next(&search->row_index, &probe)) != ID_NONE) {
		struct leak_row *known = &search->rows->items.items[id];

		if (known->key == piece->key && known->kind == piece->kind &&
		    known->is_lifetime == piece->is_lifetime)
			return known;
	}
	row.blocks = row.bytes = row.led_blocks = row.led_bytes = 0;
	row.stack_count = 0;
	id = (uint32_t)search->rows->items.count;
	if (vec_push(&search->rows->items, row) < 0 ||
	    id_index_add(&search->row_index, hash, id) < 0)
		return NULL;
	return &search->rows->items.items[id];
}

/* Whether blocks are left that no scan has checked: gates need to know. */
static bool is_unknown(const struct leak_row *row)
{
	return row->scan == LEAK_NO_SCAN && !row->is_freed;
}

static void add_to_row(struct leak_row *row, const struct leak_row *piece)
{
	row->blocks += piece->blocks;
	row->bytes += piece->bytes;
	row->led_blocks += piece->led_blocks;
	row->led_bytes += piece->led_bytes;
	row->evidence |= piece->evidence;
	row->is_freed =
		!is_unknown(row) && !is_unknown(piece) && (row->is_freed || piece->is_freed);
	if (piece->first_ns < row->first_ns)
		row->first_ns = piece->first_ns;
	if (piece->last_ns > row->last_ns)
		row->last_ns = piece->last_ns;
	if (piece->age_ns > row->age_ns)
		row->age_ns = piece->age_ns;
}

/* Whether this many bytes are at least half of what a site grew by. */
static bool is_what_grew(const struct growth *growth, double bytes)
{
	double seconds = (double)(growth->to_ns - growth->from_ns) / 1e9;

	return bytes >= growth->bytes_per_second * seconds / 2;
}

static int add_piece(struct search *search, struct piece *piece)
{
	struct leak_row *row;
	int r = find_key(search, piece->stack, &piece->row.key);

	if (r <= 0)
		return r;
	if (piece->row.key < search->growths.count) {
		piece->row.growth = search->growths.items[piece->row.key];
		if (!piece->row.is_freed)
			search->kept_bytes[piece->row.key] += (double)piece->row.bytes;
	}
	if ((piece->row.kind == LEAK_REACHABLE || piece->row.kind == LEAK_UNSCANNED) &&
	    piece->row.growth.confidence >= GROWTH_SURE) {
		piece->row.kind = LEAK_GROWTH;
		piece->row.is_lifetime = false;
	}
	r = suppress(search, piece);
	if (r != 0)
		return r < 0 ? r : 0;
	row = row_of(search, &piece->row);
	if (!row)
		return -ENOMEM;
	add_to_row(row, &piece->row);
	return vec_push(&search->rows->stacks,
			(struct leak_row_stack){(uint32_t)(row - search->rows->items.items),
						piece->stack, piece->row.blocks, piece->row.bytes});
}

static uint64_t since_begin(const struct search *search, uint64_t time_ns)
{
	return time_ns > search->report->begin_ns ? time_ns - search->report->begin_ns : 0;
}

static int add_scan(struct search *search, uint32_t number)
{
	const struct leak_scan_kept *kept = &search->heap->leaks.items.items[number];
	uint64_t at_ns = since_begin(search, kept->scan.time_ns);
	int r = 0;

	if (at_ns > search->rows->run_ns)
		search->rows->run_ns = at_ns;
	search->rows->has_scan = true;
	for (size_t i = 0; i < kept->groups.count && r == 0; i++) {
		const struct leak_group *group = &kept->groups.items[i];
		struct piece piece = {.stack = group->stack, .size_bytes = group->size_bytes};
		uint64_t first_ns = since_begin(search, group->first_born_ns);
		uint64_t last_ns = since_begin(search, group->last_born_ns);

		piece.row = (struct leak_row){.kind = group->leak_class,
					      .evidence = group->evidence,
					      .scan = number,
					      .blocks = group->blocks,
					      .bytes = group->blocks * group->size_bytes,
					      .led_blocks = group->led_blocks,
					      .led_bytes = group->led_bytes,
					      .first_ns = first_ns,
					      .last_ns = last_ns,
					      .age_ns = at_ns > first_ns ? at_ns - first_ns : 0,
					      .thread = group->thread};
		piece.row.is_lifetime =
			group->leak_class == LEAK_REACHABLE && last_ns <= at_ns / LIFETIME_SHARE;
		if (group->leak_class < LEAK_CLASSES)
			r = add_piece(search, &piece);
	}
	return r;
}

/*
 * Uses the scan at the end of each process, else its last one. Other scans only matter to readers
 * of the file. A scan at an interval may come while a process waits at its end, and after that
 * scan.
 */
static int add_scans(struct search *search)
{
	const struct leak_scans *scans = &search->heap->leaks;
	const struct profile *profile = search->heap->profile;
	VEC(uint32_t) last = {0}; /* by process of the recording */
	int r = 0;

	for (uint32_t i = 0; i < scans->items.count && r == 0; i++) {
		uint32_t process = scans->items.items[i].scan.process;

		while (last.count <= process && r == 0)
			r = vec_push(&last, ID_NONE);
		if (r == 0 &&
		    (last.items[process] == ID_NONE ||
		     scans->items.items[i].scan.trigger == LEAK_AT_EXIT ||
		     scans->items.items[last.items[process]].scan.trigger != LEAK_AT_EXIT))
			last.items[process] = i;
	}
	for (size_t i = 0; i < last.count && r == 0; i++) {
		if (last.items[i] == ID_NONE)
			continue;
		for (size_t k = 0; k < profile->threads.count; k++)
			if (profile->threads.items[k].pid == scans->items.items[last.items[i]].pid)
				search->is_scanned[k] = true;
		r = add_scan(search, last.items[i]);
	}
	vec_fini(&last);
	return r;
}

/* Adds unfreed blocks of processes that were not scanned. */
static int add_unscanned(struct search *search)
{
	const struct heap_report *report = search->report;
	int r = 0;

	for (size_t i = 0; i < report->sites.shares.count && r == 0; i++) {
		const struct heap_share *share = &report->sites.shares.items[i];
		const struct heap_site *site = &report->sites.sites.items[share->site];
		struct heap_sum live = share->level.live;
		uint32_t thread = search->heap->threads[share->thread];
		struct piece piece = {.stack = search->heap->stacks[share->site]};

		if (live.blocks < 0.5 || thread == ID_NONE || search->is_scanned[thread])
			continue;
		search->rows->has_unscanned = true;
		piece.size_bytes = (uint64_t)llround(live.bytes / live.blocks);
		piece.row = (struct leak_row){.kind = LEAK_UNSCANNED,
					      .scan = LEAK_NO_SCAN,
					      .blocks = (uint64_t)llround(live.blocks),
					      .bytes = (uint64_t)llround(live.bytes),
					      .first_ns = site->first_ns,
					      .last_ns = site->last_ns,
					      .age_ns = report->end_ns - site->first_ns,
					      .thread = thread};
		r = add_piece(search, &piece);
	}
	return r;
}

/* Whether programs were recorded to their end: in others, the last frees are deliberate. */
static bool has_ended(const struct heap_profile *heap)
{
	const struct profile *profile = heap->profile;

	for (size_t i = 0; i < heap->leaks.items.count; i++)
		if (heap->leaks.items.items[i].scan.trigger == LEAK_AT_EXIT)
			return true;
	for (size_t i = 0; i < profile->facts.count; i++)
		if (strcmp(profile_text(profile, profile->facts.items[i].key), "engine") == 0)
			return strcmp(profile_text(profile, profile->facts.items[i].value),
				      "signal") == 0;
	return false;
}

/*
 * Adds sites that grew without bound and were freed at the end of the program by destructors of
 * static objects: while it ran they were leaks as well. Their peak counts.
 */
static int add_freed_growth(struct search *search)
{
	const struct heap_report *report = search->report;
	SCOPED(mem)
	struct heap_site_sums *sums = heap_sites_sums(&report->sites, report->totals.peak_number);
	int r = sums ? 0 : -ENOMEM;

	if (!has_ended(search->heap))
		return r;
	for (size_t i = 0; i < report->sites.sites.count && r == 0; i++) {
		const struct heap_site *site = &report->sites.sites.items[i];
		uint32_t key = search->of_site[i];
		struct piece piece = {.stack = search->heap->stacks[i]};
		double average;

		if (key == ID_NONE || search->growths.items[key].confidence < GROWTH_SURE ||
		    is_what_grew(&search->growths.items[key], search->kept_bytes[key]) ||
		    sums[i].allocated.blocks < 1 || site->most_bytes < 1)
			continue;
		average = sums[i].allocated.bytes / sums[i].allocated.blocks;
		piece.size_bytes = (uint64_t)llround(average);
		piece.row = (struct leak_row){.kind = LEAK_GROWTH,
					      .is_freed = true,
					      .scan = LEAK_NO_SCAN,
					      .blocks = (uint64_t)ceil(site->most_bytes / average),
					      .bytes = (uint64_t)llround(site->most_bytes),
					      .first_ns = site->first_ns,
					      .last_ns = site->last_ns,
					      .age_ns = report->end_ns - site->first_ns,
					      .thread = ID_NONE};
		r = add_piece(search, &piece);
	}
	return r;
}

/* The order of rows. */
static unsigned int rank(const struct leak_row *row)
{
	static const uint8_t ranks[] = {
		[LEAK_DEFINITE] = 0,  [LEAK_PROBABLE] = 1,  [LEAK_GROWTH] = 2,
		[LEAK_POSSIBLE] = 3,  [LEAK_UNSCANNED] = 4, [LEAK_INDIRECT] = 5,
		[LEAK_REACHABLE] = 6,
	};

	return ranks[row->kind] + row->is_lifetime;
}

static int compare_rows(const void *a, const void *b)
{
	const struct leak_row *x = a;
	const struct leak_row *y = b;

	if (rank(x) != rank(y))
		return rank(x) < rank(y) ? -1 : 1;
	if (x->bytes + x->led_bytes != y->bytes + y->led_bytes)
		return x->bytes + x->led_bytes < y->bytes + y->led_bytes ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct leak_row_stack *x = a;
	const struct leak_row_stack *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int compare_amounts(const void *a, const void *b)
{
	const struct leak_row_stack *x = a;
	const struct leak_row_stack *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Merges equal stacks, and updates the rows. */
static void join_stacks(struct leak_rows *rows)
{
	struct leak_row_stack *items = rows->stacks.items;
	size_t kept = 0;

	if (rows->stacks.count > 0)
		qsort(items, rows->stacks.count, sizeof(*items), compare_stacks);
	for (size_t i = 0; i < rows->stacks.count; i++) {
		if (kept > 0 && items[kept - 1].row == items[i].row &&
		    items[kept - 1].stack == items[i].stack) {
			items[kept - 1].blocks += items[i].blocks;
			items[kept - 1].bytes += items[i].bytes;
		} else {
			items[kept++] = items[i];
		}
	}
	rows->stacks.count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct leak_row *row = &rows->items.items[items[i].row];

		if (row->stack_count++ == 0)
			row->first_stack = (uint32_t)i;
	}
	for (size_t i = 0; i < rows->items.count; i++)
		qsort(items + rows->items.items[i].first_stack, rows->items.items[i].stack_count,
		      sizeof(*items), compare_amounts);
}

static void add_amount(struct leak_amount *amount, uint64_t blocks, uint64_t bytes)
{
	amount->blocks += blocks;
	amount->bytes += bytes;
}

/* The number of unreachable blocks that may have been freed. */
static uint64_t count_unfreed(const struct leak_rows *rows)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < rows->items.count; i++)
		if (rows->items.items[i].kind != LEAK_REACHABLE)
			blocks += rows->items.items[i].blocks;
	return blocks;
}

/* Judges the rows, filters them, and adds up the rest. */
static void judge_rows(struct search *search)
{
	struct leak_rows *rows = search->rows;
	double unfreed = (double)count_unfreed(rows);
	double lost = (double)rows->lost_calls;
	size_t kept = 0;

	for (size_t i = 0; i < rows->items.count; i++) {
		struct leak_row *row = &rows->items.items[i];
		const struct leak_scan *scan =
			row->scan == LEAK_NO_SCAN
				? NULL
				: &search->heap->leaks.items.items[row->scan].scan;

		/* A block or two of a growing site are not the cause of its growth. */
		if (row->kind != LEAK_GROWTH &&
		    !is_what_grew(&row->growth, (double)(row->bytes + row->led_bytes)))
			row->growth = (struct growth){0};
		row->lost_calls = rows->lost_calls;
		row->kept_share = unfreed > 0 ? unfreed / (unfreed + lost) : 1;
		row->confidence = leak_confidence(row, scan, rows->run_ns);
		if (row->confidence < search->filter->min_confidence ||
		    row->age_ns < search->filter->min_age_ns) {
			add_amount(&rows->filtered, row->blocks, row->bytes);
			continue;
		}
		add_amount(&rows->sums[row->kind], row->blocks, row->bytes);
		add_amount(&rows->led, row->led_blocks, row->led_bytes);
		if (row->is_lifetime)
			add_amount(&rows->lifetime, row->blocks, row->bytes);
		rows->items.items[kept++] = *row;
	}
	rows->items.count = kept;
	if (kept > 0)
		qsort(rows->items.items, kept, sizeof(*rows->items.items), compare_rows);
}

static int find_all(struct search *search)
{
	const struct suppressions *rules = search->filter->suppressions;
	int r = allocators_init(&search->allocators, search->heap->profile);

	search->is_scanned =
		calloc(search->heap->profile->threads.count + 1, sizeof(*search->is_scanned));
	if (!search->is_scanned)
		return -ENOMEM;
	for (size_t i = 0; rules && i < rules->rules.count && r == 0; i++)
		r = vec_push(&search->rows->rules, (struct leak_amount){0});
	if (r == 0)
		r = find_growths(search);
	if (r == 0)
		r = add_scans(search);
	if (r == 0)
		r = add_unscanned(search);
	if (r == 0)
		r = add_freed_growth(search);
	return r;
}

int leak_rows_init(const struct heap_profile *heap, const struct leak_filter *filter,
		   struct leak_rows *ret)
{
	struct search search = {.heap = heap,
				.report = heap_analysis_report(heap->analysis),
				.filter = filter,
				.rows = ret};
	int r;

	*ret = (struct leak_rows){.lost_calls = heap->profile->quality.lost};
	r = find_all(&search);
	if (ret->run_ns == 0)
		ret->run_ns = search.report->end_ns;
	if (r == 0) {
		join_stacks(ret);
		judge_rows(&search);
	}
	allocators_fini(&search.allocators);
	vec_fini(&search.lines.items);
	vec_fini(&search.calls);
	vec_fini(&search.growths);
	vec_fini(&search.starts);
	id_index_fini(&search.start_index);
	id_index_fini(&search.key_index);
	id_index_fini(&search.row_index);
	free(search.of_site);
	free(search.kept_bytes);
	free(search.is_scanned);
	return r;
}
