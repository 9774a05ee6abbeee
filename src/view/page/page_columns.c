/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/page_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/flame/flame_picture.h"
#include "view/function_lines.h"
#include "view/language.h"
#include "view/page/page_lines.h"
#include "view/page/page_source.h"

/* A string may be a name in one role and a path in another, of which only the end is shown. */
enum role { NAME, MODULE, FILE_NAME, ROLES };

enum section {
	TEXTS,
	FUNCTIONS,
	THREADS,
	NODES,
	ENTRIES,
	MOMENTS,
	BLOCKS,
	LEVELS,
	LINES,
	SOURCES,
	SECTIONS
};

struct sheet {
	const struct profile *profile;
	const struct page_columns_options *options;
	struct call_tree *tree;
	struct page_source source;
	struct page_lines lines_of; /* stacks */
	uint32_t *ids;              /* numbers of functions in the page; ID_NONE: not in it */
	uint32_t *used;             /* the functions of the page, in their order */
	uint32_t *lines;            /* the most expensive line of each function */
	uint32_t *places; /* by string id and role: its number among the texts, plus one */
	uint32_t used_count;
	uint32_t text_count;
	uint32_t states[PAGE_STATES];
	uint32_t state_count;
	struct bytes sections[SECTIONS];
};

static void sheet_fini(struct sheet *sheet)
{
	int i;

	call_tree_free(sheet->tree);
	page_source_fini(&sheet->source);
	page_lines_fini(&sheet->lines_of);
	free(sheet->ids);
	free(sheet->used);
	free(sheet->lines);
	free(sheet->places);
	for (i = 0; i < SECTIONS; i++)
		bytes_fini(&sheet->sections[i]);
}

/* Texts */

/* Appends a text as a line, cut if it is too long. */
static uint32_t add_text(struct sheet *sheet, const char *text)
{
	struct bytes *out = &sheet->sections[TEXTS];

	if (strlen(text) > MAX_NAME_BYTES) {
		SCOPED(mem) char *cut = strndup(text, MAX_NAME_BYTES - 2);

		/*
		 * A character that was cut in half is invalid UTF-8 and shows as a replacement
		 * character.
		 */
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

/* The number of the text shown for a string; each text is stored once. */
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

/*
 * An entry, a moment or blocks by the node in which they end. Several may have the same node,
 * thread, state and slices: sorted, they form a run, which the page stores as one.
 */
struct item {
	uint32_t node;
	uint32_t thread;
	uint32_t state;
	uint32_t lines;
	uint32_t slice;
	uint32_t end; /* of blocks, in the format of the page; else 0 */
	uint32_t id;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->lines != y->lines)
		return x->lines < y->lines ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Whether both belong to one entry. */
static bool same_entry(const struct item *x, const struct item *y)
{
	return x->node == y->node && x->thread == y->thread && x->state == y->state &&
	       x->lines == y->lines;
}

/* The end of the run that begins at an item. */
static size_t run_end(const struct item *items, size_t count, size_t begin)
{
	size_t end = begin + 1;

	while (end < count && compare_items(&items[begin], &items[end]) == 0)
		end++;
	return end;
}

static size_t count_runs(const struct item *items, size_t count)
{
	size_t runs = 0;
	size_t i;

	for (i = 0; i < count; i = run_end(items, count, i))
		runs++;
	return runs;
}

typedef int64_t value_fn(const struct profile *profile, uint32_t id, uint32_t value);

static int64_t entry_value(const struct profile *profile, uint32_t id, uint32_t value)
{
	return profile_entry_values(profile, id)[value];
}

static int64_t moment_value(const struct profile *profile, uint32_t id, uint32_t value)
{
	return profile->moments.items[id].values[value];
}

static int64_t moment_going_on(const struct profile *profile, uint32_t id, uint32_t value)
{
	(void)value;
	return profile->moments.items[id].going_on;
}

static int64_t blocks_value(const struct profile *profile, uint32_t id, uint32_t value)
{
	const struct profile_blocks *blocks = &profile->time.blocks.items[id];

	return value == 0 ? blocks->bytes : value == 1 ? blocks->blocks : blocks->temporary;
}

static void put_values(struct sheet *sheet, enum section section, const struct item *items,
		       size_t count, value_fn *value_of, uint32_t values)
{
	uint32_t value;
	size_t i;
	size_t end;

	for (value = 0; value < values; value++)
		for (i = 0; i < count; i = end) {
			int64_t sum = 0;
			size_t k;

			end = run_end(items, count, i);
			for (k = i; k < end; k++)
				sum += value_of(sheet->profile, items[k].id, value);
			bytes_put_varint(&sheet->sections[section], zigzag_encode(sum));
		}
}

static void put_entries(struct sheet *sheet, const struct item *items, size_t count)
{
	struct bytes *out = &sheet->sections[ENTRIES];
	uint32_t last = 0;
	size_t i;

	bytes_put_varint(out, count_runs(items, count));
	for (i = 0; i < count; i = run_end(items, count, i)) {
		bytes_put_varint(out, items[i].node - last);
		last = items[i].node;
	}
	for (i = 0; i < count; i = run_end(items, count, i))
		bytes_put_varint(out, items[i].thread);
	for (i = 0; i < count; i = run_end(items, count, i))
		bytes_put_varint(out, items[i].state);
	for (i = 0; i < count; i = run_end(items, count, i))
		bytes_put_varint(out, items[i].lines);
	put_values(sheet, ENTRIES, items, count, entry_value, sheet->options->value_count);
}

uint32_t page_columns_states(const struct profile *profile, uint32_t states[PAGE_STATES])
{
	uint32_t count = 0;

	for (size_t i = 0; i < profile->entries.count && count < PAGE_STATES; i++) {
		uint32_t at = 0;

		while (at < count && states[at] != profile->entries.items[i].state)
			at++;
		if (at == count)
			states[count++] = profile->entries.items[i].state;
	}
	return count;
}

static uint32_t lines_of(const struct sheet *sheet, uint32_t stack)
{
	return sheet->lines_of.ends ? sheet->lines_of.ends[stack] : 0;
}

static uint32_t state_number(const struct sheet *sheet, uint32_t state)
{
	uint32_t at = 0;

	while (at + 1 < sheet->state_count && sheet->states[at] != state)
		at++;
	return at;
}

/* Appends how many items each entry has (both have the same order), then their slices. */
static void put_counts(struct bytes *out, const struct item *entries, size_t entry_count,
		       const struct item *moments, size_t count)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < entry_count; i = run_end(entries, entry_count, i)) {
		uint64_t runs = 0;

		while (at < count && same_entry(&moments[at], &entries[i])) {
			at = run_end(moments, count, at);
			runs++;
		}
		bytes_put_varint(out, runs);
	}
	for (i = 0; i < count; i = run_end(moments, count, i)) {
		bool same = i > 0 && same_entry(&moments[i], &moments[i - 1]);

		bytes_put_varint(out, moments[i].slice - (same ? moments[i - 1].slice : 0));
	}
}

static void put_moments(struct sheet *sheet, const struct item *entries, size_t entry_count,
			const struct item *moments, size_t count)
{
	struct bytes *out = &sheet->sections[MOMENTS];
	uint32_t values = ARRAY_SIZE(sheet->profile->moments.items->values);

	if (values > sheet->options->value_count)
		values = sheet->options->value_count;
	bytes_put_varint(out, count_runs(moments, count));
	bytes_put_varint(out, values);
	if (count > 0)
		put_counts(out, entries, entry_count, moments, count);
	put_values(sheet, MOMENTS, moments, count, moment_value, values);
	put_values(sheet, MOMENTS, moments, count, moment_going_on, 1);
}

/* When blocks of a heap were live. */
static int put_blocks(struct sheet *sheet, const struct item *entries, size_t entry_count)
{
	size_t count = sheet->profile->time.blocks.count;
	SCOPED(mem) struct item *items = calloc(count + 1, sizeof(*items));
	struct bytes *out = &sheet->sections[BLOCKS];
	uint32_t i;
	size_t at;

	if (!items)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct profile_blocks *blocks = &sheet->profile->time.blocks.items[i];
		uint32_t lasted =
			blocks->died == PROFILE_BLOCKS_LIVE ? 0 : blocks->died - blocks->born + 1;

		items[i] = (struct item){.node = call_tree_of_stack(sheet->tree, blocks->stack),
					 .thread = blocks->thread,
					 .state = state_number(sheet, 0),
					 .lines = lines_of(sheet, blocks->stack),
					 .slice = blocks->born,
					 .end = lasted * 2 + blocks->is_pool,
					 .id = i};
	}
	qsort(items, count, sizeof(*items), compare_items);
	bytes_put_varint(out, count_runs(items, count));
	if (count > 0)
		put_counts(out, entries, entry_count, items, count);
	for (at = 0; at < count; at = run_end(items, count, at))
		bytes_put_varint(out, items[at].end);
	put_values(sheet, BLOCKS, items, count, blocks_value, 3);
	return 0;
}

static int put_costs(struct sheet *sheet)
{
	const struct profile *profile = sheet->profile;
	size_t entry_count = profile->entries.count;
	size_t count = profile->moments.count;
	SCOPED(mem) struct item *entries = calloc(entry_count + 1, sizeof(*entries));
	SCOPED(mem) struct item *moments = calloc(count + 1, sizeof(*moments));
	uint32_t i;

	if (!entries || !moments)
		return -ENOMEM;
	for (i = 0; i < entry_count; i++) {
		const struct profile_entry *entry = &profile->entries.items[i];

		entries[i] = (struct item){.node = call_tree_of_stack(sheet->tree, entry->stack),
					   .thread = entry->thread,
					   .state = state_number(sheet, entry->state),
					   .lines = lines_of(sheet, entry->stack),
					   .id = i};
	}
	for (i = 0; i < count; i++) {
		const struct profile_moment *moment = &profile->moments.items[i];

		moments[i] = (struct item){.node = call_tree_of_stack(sheet->tree, moment->stack),
					   .thread = moment->thread,
					   .state = state_number(sheet, moment->state),
					   .lines = lines_of(sheet, moment->stack),
					   .slice = moment->slice,
					   .id = i};
	}
	qsort(entries, entry_count, sizeof(*entries), compare_items);
	qsort(moments, count, sizeof(*moments), compare_items);
	put_entries(sheet, entries, entry_count);
	put_moments(sheet, entries, entry_count, moments, count);
	return put_blocks(sheet, entries, entry_count);
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

/* The number of slices; 0: nothing has times. */
static uint32_t count_slices(const struct profile *profile)
{
	uint64_t count = profile->slice_ns > 0 ? (profile->duration_ns + profile->slice_ns - 1) /
							 profile->slice_ns
					       : 0;

	if (profile->moments.count + profile->time.blocks.count == 0)
		return 0;
	for (size_t i = 0; i < profile->moments.count; i++)
		if (profile->moments.items[i].slice >= count)
			count = profile->moments.items[i].slice + 1;
	for (size_t i = 0; i < profile->time.blocks.count; i++) {
		const struct profile_blocks *blocks = &profile->time.blocks.items[i];
		uint32_t last = blocks->died == PROFILE_BLOCKS_LIVE ? blocks->born : blocks->died;

		if (last >= count)
			count = last + 1;
	}
	return count < PAGE_SLICES ? (uint32_t)count : PAGE_SLICES;
}

/* Levels by slice, starting at the first known one, as deltas. */
static int put_levels(struct sheet *sheet)
{
	const struct profile *profile = sheet->profile;
	uint32_t slices = count_slices(profile);
	SCOPED(mem) struct level_step *steps = calloc(slices + 1, sizeof(*steps));
	struct bytes *out = &sheet->sections[LEVELS];

	if (!steps)
		return -ENOMEM;
	bytes_put_varint(out, slices);
	bytes_put_varint(out, slices > 0 ? profile->time.tracks.count : 0);
	for (size_t i = 0; i < profile->time.tracks.count && slices > 0; i++) {
		const struct level_track *track = &profile->time.tracks.items[i];
		uint32_t first = 0;
		int64_t before = 0;

		level_track_fold(track, 0, profile->slice_ns, steps, slices);
		while (first < slices && !steps[first].known)
			first++;
		bytes_put_varint(out, track->kind);
		bytes_put_varint(out, text_of(sheet, track->name, NAME));
		bytes_put_varint(out, text_of(sheet, track->unit, NAME));
		bytes_put_varint(out, text_of(sheet, track->process_comm, NAME));
		bytes_put_varint(out, track->pid);
		bytes_put_varint(out, first);
		for (; first < slices; first++) {
			bytes_put_varint(out, zigzag_encode((int64_t)((uint64_t)steps[first].level -
								      (uint64_t)before)));
			before = steps[first].level;
		}
	}
	return 0;
}

static int prepare(struct sheet *sheet)
{
	const struct page_columns_options *options = sheet->options;
	struct call_tree_options how = {.value = options->value,
					.collapse_recursion = options->collapse_recursion,
					.keep_stacks = true};
	int r = call_tree_new(sheet->profile, &how, &sheet->tree);

	sheet->state_count = page_columns_states(sheet->profile, sheet->states);
	if (r == 0)
		r = choose_functions(sheet);
	if (r == 0)
		r = function_lines_new(sheet->profile, options->value, &sheet->lines);
	if (r == 0 && options->lines)
		r = page_source_init(&sheet->source, sheet->profile, options->value,
				     options->search);
	if (r == 0 && options->lines)
		r = page_lines_init(&sheet->lines_of, sheet->profile, &sheet->source);
	if (r == 0 && options->ret_lack)
		*options->ret_lack = sheet->source.lack;
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
		r = put_levels(&sheet);
	page_lines_put(&sheet.lines_of, &sheet.sections[LINES]);
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
