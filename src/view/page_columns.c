/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/flame_picture.h"
#include "view/function_lines.h"
#include "view/language.h"
#include "view/page_source.h"

/* One string may be a name here and a path there, of which only the end is shown. */
enum role { NAME, MODULE, FILE_NAME, ROLES };

enum section { TEXTS, FUNCTIONS, THREADS, NODES, ENTRIES, MOMENTS, SOURCES, SECTIONS };

struct sheet {
	const struct profile *profile;
	const struct page_columns_options *options;
	struct call_tree *tree;
	struct page_source source;
	uint32_t *ids;    /* of functions in the page; ID_NONE: not in it */
	uint32_t *used;   /* the functions of the page, in their order */
	uint32_t *lines;  /* of each function the one that costs most */
	uint32_t *places; /* of each role of each string id: its number among the texts plus one */
	uint32_t used_count;
	uint32_t text_count;
	struct bytes sections[SECTIONS];
};

static void sheet_fini(struct sheet *sheet)
{
	int i;

	call_tree_free(sheet->tree);
	page_source_fini(&sheet->source);
	free(sheet->ids);
	free(sheet->used);
	free(sheet->lines);
	free(sheet->places);
	for (i = 0; i < SECTIONS; i++)
		bytes_fini(&sheet->sections[i]);
}

/* Texts */

/* Appends a text as a line of its own, cut where it would only grow the file. */
static uint32_t add_text(struct sheet *sheet, const char *text)
{
	struct bytes *out = &sheet->sections[TEXTS];

	if (strlen(text) > MAX_NAME_BYTES) {
		SCOPED(mem) char *cut = strndup(text, MAX_NAME_BYTES - 2);

		/* A character that was halved is no UTF-8: it shows as one that is unknown. */
		if (cut)
			text_put_plain(out, cut);
		bytes_printf(out, "..");
	} else {
		text_put_plain(out, text);
	}
	bytes_put_u8(out, '\n');
	return sheet->text_count++;
}

static const char *shown_as(const char *text, enum role role)
{
	switch (role) {
	case MODULE:
		return flame_module_name(text);
	case FILE_NAME:
		return flame_file_name(text);
	case NAME:
	case ROLES:
		break;
	}
	return *text ? text : "[unnamed]";
}

/* The number of the text that is shown for a string, told once however often it is used. */
static uint32_t text_of(struct sheet *sheet, uint32_t id, enum role role)
{
	uint32_t *place = &sheet->places[(size_t)id * ROLES + role];

	if (*place == 0)
		*place = add_text(sheet, shown_as(profile_text(sheet->profile, id), role)) + 1;
	return *place - 1;
}

/* Functions */

static int choose_functions(struct sheet *sheet)
{
	const struct call_node *nodes = call_tree_nodes(sheet->tree);
	size_t count = sheet->profile->functions.count;
	uint32_t i;

	sheet->ids = malloc((count + 1) * sizeof(uint32_t));
	sheet->used = malloc((count + 1) * sizeof(uint32_t));
	if (!sheet->ids || !sheet->used)
		return -ENOMEM;
	memset(sheet->ids, 0xff, count * sizeof(uint32_t)); /* ID_NONE */
	for (i = 1; i < call_tree_count(sheet->tree); i++)
		if (sheet->ids[nodes[i].function] == ID_NONE) {
			sheet->ids[nodes[i].function] = 0;
			sheet->used[sheet->used_count++] = nodes[i].function;
		}
	/* The context is not const in glibc; the comparison does not write. */
	qsort_r(sheet->used, sheet->used_count, sizeof(uint32_t), call_tree_compare_functions,
		(void *)(uintptr_t)sheet->profile);
	for (i = 0; i < sheet->used_count; i++)
		sheet->ids[sheet->used[i]] = i;
	return 0;
}

typedef uint64_t column_fn(struct sheet *sheet, uint32_t function);

static const struct profile_function *function_of(const struct sheet *sheet, uint32_t id)
{
	return &sheet->profile->functions.items[id];
}

static uint64_t column_name(struct sheet *sheet, uint32_t id)
{
	return text_of(sheet, function_of(sheet, id)->name, NAME);
}

static uint64_t column_module(struct sheet *sheet, uint32_t id)
{
	return text_of(sheet, function_of(sheet, id)->module, MODULE);
}

static uint64_t column_file(struct sheet *sheet, uint32_t id)
{
	return text_of(sheet, function_of(sheet, id)->file, FILE_NAME);
}

static uint64_t column_origin(struct sheet *sheet, uint32_t id)
{
	return function_of(sheet, id)->origin;
}

static uint64_t column_language(struct sheet *sheet, uint32_t id)
{
	return language_of(sheet->profile, function_of(sheet, id));
}

static uint64_t column_hash(struct sheet *sheet, uint32_t id)
{
	return flame_hash(profile_text(sheet->profile, function_of(sheet, id)->name)) % PAGE_HASHES;
}

static uint64_t column_module_hash(struct sheet *sheet, uint32_t id)
{
	return flame_hash(profile_text(sheet->profile, function_of(sheet, id)->module)) %
	       PAGE_HASHES;
}

static uint64_t column_line(struct sheet *sheet, uint32_t id)
{
	return sheet->lines[id];
}

static uint64_t column_source(struct sheet *sheet, uint32_t id)
{
	return sheet->source.places ? sheet->source.places[id].file : 0;
}

static uint64_t column_first(struct sheet *sheet, uint32_t id)
{
	return sheet->source.places ? sheet->source.places[id].first : 0;
}

static uint64_t column_last(struct sheet *sheet, uint32_t id)
{
	return sheet->source.places ? sheet->source.places[id].last : 0;
}

static void put_functions(struct sheet *sheet)
{
	static column_fn *const columns[] = {
		column_name,     column_module, column_file,        column_origin,
		column_language, column_hash,   column_module_hash, column_line,
		column_source,   column_first,  column_last,
	};
	struct bytes *out = &sheet->sections[FUNCTIONS];
	size_t column;
	uint32_t i;

	bytes_put_varint(out, sheet->used_count);
	for (column = 0; column < ARRAY_SIZE(columns); column++)
		for (i = 0; i < sheet->used_count; i++)
			bytes_put_varint(out, columns[column](sheet, sheet->used[i]));
}

static void put_threads(struct sheet *sheet)
{
	const struct profile *profile = sheet->profile;
	struct bytes *out = &sheet->sections[THREADS];
	size_t i;

	bytes_put_varint(out, profile->threads.count);
	for (i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		bytes_put_varint(out, thread->pid);
		bytes_put_varint(out, thread->tid);
		bytes_put_varint(out, text_of(sheet, thread->comm, NAME));
		bytes_put_varint(out, text_of(sheet, thread->process_comm, NAME));
	}
}

/* Tree */

static void put_nodes(struct sheet *sheet)
{
	const struct call_node *nodes = call_tree_nodes(sheet->tree);
	uint32_t count = call_tree_count(sheet->tree);
	struct bytes *out = &sheet->sections[NODES];
	uint32_t i;

	bytes_put_varint(out, count - 1);
	for (i = 1; i < count; i++)
		bytes_put_varint(out, nodes[i - 1].depth + 1 - nodes[i].depth);
	for (i = 1; i < count; i++)
		bytes_put_varint(out, (uint64_t)sheet->ids[nodes[i].function] * 2 +
					      (nodes[i].called ? 0 : 1));
}

/* What a node cost a thread, in all or in a slice of time. */
struct cost {
	uint32_t node;
	uint32_t thread;
	uint32_t slice;
	int64_t values[PROFILE_MAX_VALUES];
};

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a;
	const struct cost *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->slice > y->slice) - (x->slice < y->slice);
}

/* Sorts them and makes one of those that are of the same. Returns how many remain. */
static size_t merge(struct cost *costs, size_t count)
{
	size_t kept = 0;
	size_t i;
	size_t k;

	if (count > 0)
		qsort(costs, count, sizeof(*costs), compare_costs);
	for (i = 0; i < count; i++) {
		if (kept == 0 || compare_costs(&costs[kept - 1], &costs[i]) != 0) {
			costs[kept++] = costs[i];
			continue;
		}
		for (k = 0; k < PROFILE_MAX_VALUES; k++)
			costs[kept - 1].values[k] += costs[i].values[k];
	}
	return kept;
}

static void put_values(struct bytes *out, const struct cost *costs, size_t count, uint32_t values)
{
	uint32_t value;
	size_t i;

	for (value = 0; value < values; value++)
		for (i = 0; i < count; i++)
			bytes_put_varint(out, zigzag_encode(costs[i].values[value]));
}

static int put_entries(struct sheet *sheet, struct cost **ret, size_t *ret_count)
{
	const struct profile *profile = sheet->profile;
	struct cost *costs = calloc(profile->entries.count + 1, sizeof(*costs));
	struct bytes *out = &sheet->sections[ENTRIES];
	size_t count;
	size_t i;

	if (!costs)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.items[i];

		costs[i].node = call_tree_of_stack(sheet->tree, entry->stack);
		costs[i].thread = entry->thread;
		memcpy(costs[i].values, profile_entry_values(profile, i),
		       sheet->options->value_count * sizeof(int64_t));
	}
	count = merge(costs, profile->entries.count);
	bytes_put_varint(out, count);
	for (i = 0; i < count; i++)
		bytes_put_varint(out, costs[i].node - (i > 0 ? costs[i - 1].node : 0));
	for (i = 0; i < count; i++)
		bytes_put_varint(out, costs[i].thread);
	put_values(out, costs, count, sheet->options->value_count);
	*ret = costs;
	*ret_count = count;
	return 0;
}

static bool is_of(const struct cost *moment, const struct cost *entry)
{
	return moment->node == entry->node && moment->thread == entry->thread;
}

/* The moments are in the order of the entries, and each is of one. */
static void put_slices(struct bytes *out, const struct cost *entries, size_t entry_count,
		       const struct cost *moments, size_t count)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < entry_count; i++) {
		size_t begin = at;

		while (at < count && is_of(&moments[at], &entries[i]))
			at++;
		bytes_put_varint(out, at - begin);
	}
	for (i = 0; i < count; i++)
		bytes_put_varint(out, i > 0 && is_of(&moments[i], &moments[i - 1])
					      ? moments[i].slice - moments[i - 1].slice
					      : moments[i].slice);
}

static int put_moments(struct sheet *sheet, const struct cost *entries, size_t entry_count)
{
	const struct profile *profile = sheet->profile;
	size_t count = profile->moments.count;
	SCOPED(mem) struct cost *costs = calloc(count + 1, sizeof(*costs));
	struct bytes *out = &sheet->sections[MOMENTS];
	uint32_t values = sheet->options->value_count;
	size_t i;

	if (!costs)
		return -ENOMEM;
	if (values > ARRAY_SIZE(profile->moments.items->values))
		values = ARRAY_SIZE(profile->moments.items->values);
	for (i = 0; i < count; i++) {
		const struct profile_moment *moment = &profile->moments.items[i];

		costs[i].node = call_tree_of_stack(sheet->tree, moment->stack);
		costs[i].thread = moment->thread;
		costs[i].slice = moment->slice;
		memcpy(costs[i].values, moment->values, sizeof(moment->values));
	}
	count = merge(costs, count);
	bytes_put_varint(out, count);
	bytes_put_varint(out, values);
	if (count > 0)
		put_slices(out, entries, entry_count, costs, count);
	put_values(out, costs, count, values);
	return 0;
}

static int put_costs(struct sheet *sheet)
{
	struct cost *entries = NULL;
	size_t count;
	int r = put_entries(sheet, &entries, &count);

	if (r == 0)
		r = put_moments(sheet, entries, count);
	free(entries);
	return r;
}

static int put_sources(struct sheet *sheet)
{
	size_t count = sheet->source.files.count;
	SCOPED(mem) uint32_t *names = calloc(count + 1, sizeof(*names));
	size_t i;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		names[i] = text_of(sheet, page_source_path(&sheet->source, i), FILE_NAME);
	page_source_put(&sheet->source, names, &sheet->sections[SOURCES]);
	return 0;
}

static int prepare(struct sheet *sheet)
{
	const struct page_columns_options *options = sheet->options;
	struct call_tree_options how = {.value = options->value,
					.collapse_recursion = options->collapse_recursion,
					.keep_stacks = true};
	int r = call_tree_new(sheet->profile, &how, &sheet->tree);

	if (r == 0)
		r = choose_functions(sheet);
	if (r == 0)
		r = function_lines_new(sheet->profile, options->value, &sheet->lines);
	if (r == 0 && options->lines)
		r = page_source_init(&sheet->source, sheet->profile, options->value,
				     options->search);
	sheet->places = calloc(sheet->profile->strings.entries.count + 1, ROLES * sizeof(uint32_t));
	return r < 0 || !sheet->places ? -ENOMEM : 0;
}

int page_columns_put(const struct profile *profile, const struct page_columns_options *options,
		     struct bytes *out)
{
	struct sheet sheet = {.profile = profile, .options = options};
	int r = prepare(&sheet);
	int i;

	if (r == 0) {
		put_functions(&sheet);
		put_threads(&sheet);
		put_nodes(&sheet);
		r = put_costs(&sheet);
	}
	if (r == 0)
		r = put_sources(&sheet);
	for (i = 0; i < SECTIONS && r == 0; i++) {
		bytes_put_varint(out, sheet.sections[i].size);
		bytes_put(out, sheet.sections[i].data, sheet.sections[i].size);
		if (sheet.sections[i].failed || out->failed)
			r = -ENOMEM;
	}
	sheet_fini(&sheet);
	return r;
}
