/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/path.h"
#include "base/scope.h"
#include "model/call_tally.h"
#include "model/profile.h"
#include "view/report/language_rows.h"
#include "view/report/line_rows.h"
#include "view/report/report.h"
#include "view/report/report_text.h"

#define NO_LINE (UINT64_C(1) << 63) /* in an id: the rest is the function */

static int tally_rows(const struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	bool by_module = report->options->by == REPORT_BY_MODULE;
	SCOPED(mem) struct call_tally *tallies = NULL;
	size_t i;
	int r = call_tally_new(profile, report->tree,
			       by_module ? CALL_TALLY_MODULE : CALL_TALLY_FUNCTION, &tallies,
			       &rows->count);

	if (r < 0)
		return r;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (i = 0; i < rows->count; i++) {
		const struct call_tally *tally = &tallies[i];
		struct row row = {.id = tally->key,
				  .self = tally->self,
				  .total = tally->total,
				  .self_samples = tally->self_samples,
				  .samples = tally->samples};

		if (by_module) {
			row.module = profile_text(profile, tally->key);
			row.name = *row.module ? path_base_name(row.module) : "[unknown]";
		} else {
			struct profile_function function = profile->functions.items[tally->key];

			row.name = profile_text(profile, function.name);
			row.module = profile_text(profile, function.module);
			row.file = profile_text(profile, function.file);
		}
		rows->items[i] = row;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The groups of a tree by thread. */
static int thread_rows(const struct report *report, struct rows *rows)
{
	const struct call_node *nodes = call_tree_nodes(report->tree);
	uint32_t count = call_tree_count(report->tree);
	uint32_t node;

	rows->count = 0;
	for (node = 1; node < count; node = nodes[node].end)
		rows->count++;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	rows->count = 0;
	for (node = 1; node < count; node = nodes[node].end)
		rows->items[rows->count++] =
			(struct row){.id = node,
				     .name = call_tree_name(report->tree, node),
				     .self = nodes[node].total,
				     .total = nodes[node].total,
				     .self_samples = nodes[node].samples,
				     .samples = nodes[node].samples};
	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return 0;
}

/* Drops rows that have only values of other events. */
static void drop_empty(struct rows *rows)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (rows->items[i].total != 0 || rows->items[i].self != 0 ||
		    rows->items[i].samples != 0)
			rows->items[kept++] = rows->items[i];
	rows->count = kept;
}

/* Adds an entry to the row of its process. */
static void add_entry(const struct report *report, size_t entry, struct row *row)
{
	const struct profile *profile = report->profile;
	const int64_t *values = profile_entry_values(profile, entry);
	uint32_t counted = call_tree_samples_value(profile);

	row->total += values[report->options->value];
	row->self = row->total;
	row->samples += counted == ID_NONE ? 0 : (uint64_t)values[counted];
	row->self_samples = row->samples;
}

/* "name/pid"; NULL: out of memory. */
static const char *process_name(struct report *report, const struct profile_thread *thread)
{
	struct bytes text = {0};
	const char *name;

	bytes_printf(&text, "%s/%" PRIu32, profile_text(report->profile, thread->process_comm),
		     thread->pid);
	name = text.failed ? NULL
			   : arena_strndup(&report->arena, (const char *)text.data, text.size);
	bytes_fini(&text);
	return name;
}

/* The row of a thread's process, created if missing; ID_NONE: out of memory. */
static uint32_t process_row(struct report *report, const struct profile_thread *thread,
			    struct id_index *index, struct rows *rows)
{
	struct row row = {.id = (uint64_t)thread->pid << 32 | thread->process_comm};
	uint64_t hash = hash_pair(thread->pid, thread->process_comm);
	struct id_probe probe = id_index_probe(index, hash);
	uint32_t at;

	while ((at = id_probe_next(index, &probe)) != ID_NONE)
		if (rows->items[at].id == row.id)
			return at;
	at = (uint32_t)rows->count;
	row.name = process_name(report, thread);
	if (!row.name || id_index_add(index, hash, at) < 0)
		return ID_NONE;
	rows->items[rows->count++] = row;
	return at;
}

/* Processes with all threads that are in them. */
static int process_rows(struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	SCOPED(mem) uint32_t *row_of = calloc(profile->threads.count + 1, sizeof(*row_of));
	struct id_index index = {0};
	size_t i;

	rows->items = calloc(profile->threads.count + 1, sizeof(*rows->items));
	if (!rows->items || !row_of)
		return -ENOMEM;
	for (i = 0; i < profile->threads.count; i++) {
		row_of[i] = process_row(report, &profile->threads.items[i], &index, rows);
		if (row_of[i] == ID_NONE)
			break;
	}
	id_index_fini(&index);
	if (i < profile->threads.count)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++)
		add_entry(report, i, &rows->items[row_of[profile->entries.items[i].thread]]);
	drop_empty(rows);
	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return 0;
}

static int state_rows(const struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	uint32_t counted = call_tree_samples_value(profile);
	size_t i;

	rows->count = profile->states.count;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (i = 0; i < rows->count; i++) {
		const int64_t *values = profile->state_values.items + i * profile->value_count;
		const char *name = profile_text(profile, profile->states.items[i].name);
		int64_t value = values[report->options->value];

		rows->items[i] = (struct row){
			.id = i,
			.name = *name ? name : "[unknown]",
			.self = value,
			.total = value,
			.samples = counted == ID_NONE ? 0 : (uint64_t)values[counted],
		};
		rows->items[i].self_samples = rows->items[i].samples;
	}
	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return 0;
}

/* "file.c:12", or the function if the line is unknown. */
static int line_rows(struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	SCOPED(mem) struct line_row *lines = NULL;
	int r = line_rows_new(profile, report->options->value, &lines, &rows->count);

	if (r < 0)
		return r;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		struct profile_function function = profile->functions.items[lines[i].function];
		const char *name = profile_text(profile, function.name);
		struct bytes text = {0};

		if (lines[i].line > 0) {
			bytes_printf(&text, "%s:%" PRIu32, profile_text(profile, lines[i].file),
				     lines[i].line);
			name = text.failed ? NULL
					   : arena_strndup(&report->arena, (const char *)text.data,
							   text.size);
			bytes_fini(&text);
		}
		if (!name)
			return -ENOMEM;
		rows->items[i] = (struct row){
			.id = lines[i].line > 0 ? (uint64_t)lines[i].file << 32 | lines[i].line
						: NO_LINE | lines[i].function,
			.name = name,
			.module = profile_text(profile, function.module),
			.file = profile_text(profile, lines[i].file),
			.self = lines[i].self,
			.total = lines[i].total,
			.self_samples = lines[i].self_samples,
			.samples = lines[i].samples,
		};
	}
	return 0;
}

static int list_rows(struct report *report, struct rows *rows)
{
	static int (*const makers[])(const struct report *report, struct rows *rows) = {
		[REPORT_BY_FUNCTION] = tally_rows,    [REPORT_BY_MODULE] = tally_rows,
		[REPORT_BY_THREAD] = thread_rows,     [REPORT_BY_STATE] = state_rows,
		[REPORT_BY_LANGUAGE] = language_rows,
	};

	if (report->options->by == REPORT_BY_LINE)
		return line_rows(report, rows);
	if (report->options->by == REPORT_BY_PROCESS)
		return process_rows(report, rows);
	return makers[report->options->by](report, rows);
}

static uint64_t sort_key(const struct row *row, enum report_sort sort)
{
	/* Shifted by INT64_MIN: heap values may be negative. */
	return sort == REPORT_SORT_SAMPLES ? row->samples
					   : (uint64_t)row->total ^ (UINT64_C(1) << 63);
}

static int compare_chosen(const void *a, const void *b, void *context)
{
	enum report_sort sort = *(const enum report_sort *)context;
	uint64_t x = sort_key(a, sort);
	uint64_t y = sort_key(b, sort);

	if (x != y)
		return x < y ? 1 : -1;
	return compare_rows(a, b);
}

int report_rows_make(struct report *report, struct rows *rows)
{
	enum report_sort sort = report->options->sort;
	int r = list_rows(report, rows);

	if (r == 0 && report->profile->value_count > 2)
		drop_empty(rows);
	if (r == 0 && sort != REPORT_SORT_SELF) /* else they are sorted already */
		qsort_r(rows->items, rows->count, sizeof(*rows->items), compare_chosen, &sort);
	return r;
}

void report_rows_free(struct rows *rows)
{
	free(rows->items);
	free(rows->cells);
	*rows = (struct rows){0};
}

int report_tree_of(const struct profile *profile, const struct report_options *options,
		   struct call_tree **ret)
{
	struct call_tree_options how = {.value = options->value,
					.collapse_recursion = options->collapse_recursion};

	if (options->by == REPORT_BY_THREAD)
		how.group = CALL_TREE_BY_THREAD;
	if (options->by == REPORT_BY_PROCESS && options->tree)
		how.group = CALL_TREE_BY_PID;
	how.inverted = options->inverted && options->tree;
	return call_tree_new(profile, &how, ret);
}

/* Values beside the sort key */

static int by_id(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Adds another value to the rows, matched by id. */
static int add_value(const struct report *report, uint32_t value, struct rows *rows)
{
	struct report_options options = *report->options;
	struct report other = *report;
	SCOPED(call_tree) struct call_tree *tree = NULL;
	struct rows found = {0};
	size_t i;
	int r;

	options.value = value;
	other.options = &options;
	other.arena = (struct arena){0};
	r = report_tree_of(report->profile, &options, &tree);
	other.tree = tree;
	if (r == 0)
		r = list_rows(&other, &found);
	if (r == 0 && found.count > 0)
		qsort(found.items, found.count, sizeof(*found.items), by_id);
	for (i = 0; r == 0 && found.count > 0 && i < rows->count; i++) {
		const struct row *row = bsearch(&rows->items[i], found.items, found.count,
						sizeof(*found.items), by_id);

		if (row)
			rows->cells[i * report->profile->value_count + value] =
				(struct report_cell){row->self, row->total};
	}
	arena_fini(&other.arena);
	free(found.items);
	return r;
}

bool report_is_beside(const struct report *report, uint32_t value)
{
	return value != report->options->value &&
	       strcmp(report->profile->value_types[value].name, "samples") != 0;
}

int report_rows_add_values(const struct report *report, struct rows *rows)
{
	uint32_t count = report->profile->value_count;
	uint32_t value;
	size_t i;
	int r = 0;

	rows->cells = calloc(rows->count * count + 1, sizeof(*rows->cells));
	if (!rows->cells)
		return -ENOMEM;
	for (i = 0; i < rows->count; i++)
		rows->cells[i * count + report->options->value] =
			(struct report_cell){rows->items[i].self, rows->items[i].total};
	for (value = 0; value < count && r == 0; value++)
		if (report_is_beside(report, value))
			r = add_value(report, value, rows);
	return r;
}

int report_rows_of_nodes(const struct report *report, struct rows *rows)
{
	uint32_t count = report->profile->value_count;
	uint32_t nodes = call_tree_count(report->tree);
	uint32_t value;
	uint32_t i;

	rows->cells = calloc((size_t)nodes * count + 1, sizeof(*rows->cells));
	if (!rows->cells)
		return -ENOMEM;
	for (value = 0; value < count; value++) {
		struct report_options options = *report->options;
		SCOPED(call_tree) struct call_tree *tree = NULL;
		int r;

		if (value != report->options->value && !report_is_beside(report, value))
			continue;
		options.value = value;
		r = report_tree_of(report->profile, &options, &tree);
		if (r < 0)
			return r;
		for (i = 0; i < nodes; i++) { /* trees of a profile have the same nodes */
			const struct call_node *node = &call_tree_nodes(tree)[i];

			rows->cells[(size_t)i * count + value] =
				(struct report_cell){node->self, node->total};
		}
	}
	return 0;
}
