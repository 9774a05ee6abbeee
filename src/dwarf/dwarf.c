/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/functions.h"
#include "dwarf/images.h"
#include "dwarf/line.h"
#include "dwarf/names.h"
#include "dwarf/package.h"
#include "dwarf/ranges.h"
#include "dwarf/unit.h"
#include "elf/elf.h"

#define DEFAULT_LIMIT (64u << 20)
/* Units may overlap; no more than these are searched for one address. */
#define MAX_OVERLAP 64

struct unit_range {
	uint64_t low, high;
	uint64_t reach; /* the highest end up to here */
	struct unit *unit;
};

/* What was read from a unit; freed when memory gets short. */
struct unit_tables {
	struct unit_tables *newer, *older;
	struct unit *unit;
	struct functions functions;
	struct line_table lines;
	struct line_table names; /* of a split unit with file numbers of its own */
	struct line_marks marks; /* read when details are requested */
	size_t bytes;
};

struct dwarf {
	struct images images;
	VEC(struct unit_range) ranges; /* sorted by low */
	struct unit_tables *newest, *oldest;
	size_t table_bytes, limit;
	struct arena arena; /* names and paths */
	struct names names;
	struct inline_scratch *scratch;
	struct dwarf_stats stats;
	bool has_short_units; /* their functions were not read, see is_short() */
};

static void scope_release_dwarf(struct dwarf **dwarf)
{
	dwarf_close(*dwarf);
}

static void unlink_tables(struct dwarf *dwarf, struct unit_tables *tables)
{
	*(tables->newer ? &tables->newer->older : &dwarf->newest) = tables->older;
	*(tables->older ? &tables->older->newer : &dwarf->oldest) = tables->newer;
	tables->newer = tables->older = NULL;
}

static void push_tables(struct dwarf *dwarf, struct unit_tables *tables)
{
	tables->older = dwarf->newest;
	*(dwarf->newest ? &dwarf->newest->newer : &dwarf->oldest) = tables;
	dwarf->newest = tables;
}

static void free_tables(struct unit_tables *tables)
{
	if (!tables)
		return;
	functions_fini(&tables->functions);
	line_table_fini(&tables->lines);
	line_table_fini(&tables->names);
	line_marks_fini(&tables->marks);
	free(tables);
}

static void forget_tables(struct dwarf *dwarf, struct unit_tables *tables)
{
	unlink_tables(dwarf, tables);
	dwarf->table_bytes -= tables->bytes;
	tables->unit->tables = NULL;
	free_tables(tables);
}

void dwarf_close(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	while (dwarf->oldest)
		forget_tables(dwarf, dwarf->oldest);
	vec_fini(&dwarf->ranges);
	names_fini(&dwarf->names);
	arena_fini(&dwarf->arena);
	inline_scratch_free(dwarf->scratch);
	images_fini(&dwarf->images);
	free(dwarf);
}

static int add_range(struct dwarf *dwarf, struct unit *unit, uint64_t low, uint64_t high)
{
	return vec_push(&dwarf->ranges, (struct unit_range){low, high, 0, unit});
}

/*
 * DWARF 2 has no range lists: a unit with a single range may have functions in other sections too,
 * which strict compilers leave out.
 */
static bool is_short(const struct unit *unit)
{
	return unit->shape.version == 2 && unit->high_pc.form && !unit->ranges.form &&
	       unit->tag == DW_TAG_compile_unit;
}

/* Adds what functions cover outside the unit's own range [low, high). */
static int add_by_functions(struct dwarf *dwarf, struct unit *unit, uint64_t low, uint64_t high)
{
	struct functions functions = {0};
	int r = functions_read(&functions, unit, false);

	for (size_t i = 0; i < functions.range_count && r == 0; i++) {
		const struct function_range *range = &functions.ranges[i];

		if (range->low < low || range->high > high)
			r = add_range(dwarf, unit, range->low, range->high);
	}
	functions_fini(&functions);
	return r;
}

static int add_unit(struct dwarf *dwarf, struct unit *unit, struct range_list *list)
{
	int r;

	dwarf->stats.units++;
	if (!unit_prepare(unit)) {
		dwarf->stats.bad_units++;
		return 0;
	}
	if (unit->tag != DW_TAG_compile_unit && unit->tag != DW_TAG_skeleton_unit)
		return 0;
	list->count = 0;
	r = unit_ranges(unit, list);
	if (r == 0 && list->count == 0 && !unit->ranges.form && !unit->high_pc.form &&
	    unit->has_line && !unit->has_dwo)
		r = add_by_functions(dwarf, unit, 0, 0); /* it does not say what it covers */
	dwarf->has_short_units |= is_short(unit);
	for (size_t i = 0; i < list->count && r == 0; i++)
		r = add_range(dwarf, unit, list->items[i].low, list->items[i].high);
	return r;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	if (left->high != right->high)
		return left->high > right->high ? -1 : 1;
	return (left->unit->start > right->unit->start) - (left->unit->start < right->unit->start);
}

static void sort_ranges(struct dwarf *dwarf)
{
	uint64_t reach = 0;

	if (dwarf->ranges.count > 0)
		qsort(dwarf->ranges.items, dwarf->ranges.count, sizeof(*dwarf->ranges.items),
		      compare_ranges);
	for (size_t i = 0; i < dwarf->ranges.count; i++) {
		struct unit_range *range = &dwarf->ranges.items[i];

		reach = range->high > reach ? range->high : reach;
		range->reach = reach;
	}
}

/* Adds the functions that short units do not cover. False if there is nothing new. */
static bool widen_short_units(struct dwarf *dwarf)
{
	const struct image *image = dwarf->images.program;
	size_t known = dwarf->ranges.count;

	if (!dwarf->has_short_units)
		return false;
	dwarf->has_short_units = false;
	for (size_t i = 0; i < image->unit_count; i++) {
		struct unit *unit = image->units[i];
		struct range_list list = {0};

		/* Without memory some functions are missing. */
		if (!unit->bad && is_short(unit) && unit_ranges(unit, &list) == 0 &&
		    list.count == 1)
			(void)add_by_functions(dwarf, unit, list.items[0].low, list.items[0].high);
		vec_fini(&list);
	}
	sort_ranges(dwarf);
	return dwarf->ranges.count > known;
}

/* Reads the headers of all units and sorts the ranges they cover. */
static int read_ranges(struct dwarf *dwarf)
{
	struct image *image = dwarf->images.program;
	struct range_list list = {0};
	int r = image_read_units(image);

	for (size_t i = 0; i < image->unit_count && r == 0; i++)
		r = add_unit(dwarf, image->units[i], &list);
	vec_fini(&list);
	/* A page for each header would keep whole units from getting huge pages. */
	section_renew(&image->sections[SECTION_INFO]);
	if (r == 0)
		sort_ranges(dwarf);
	return r;
}

int dwarf_open(struct elf_file *elf, const struct dwarf_hooks *hooks, struct dwarf **ret,
	       struct error *err)
{
	SCOPED(dwarf) struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
	int r;

	if (!dwarf)
		return error_set(err, -ENOMEM, "out of memory");
	dwarf->limit = DEFAULT_LIMIT;
	names_init(&dwarf->names, &dwarf->arena);
	dwarf->scratch = inline_scratch_new();
	if (!dwarf->scratch || images_init(&dwarf->images, elf, hooks) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (section_exists(&dwarf->images.program->sections[SECTION_INFO])) {
		dwarf->stats.missing_alt = !images_open_alt(&dwarf->images);
		r = read_ranges(dwarf);
	} else {
		r = -ENODATA;
	}
	if (r < 0) {
		dwarf->images.program->elf = NULL; /* stays with the caller */
		return r == -ENODATA ? error_set(err, r, "no debug information")
				     : error_set(err, r, "out of memory");
	}
	*ret = scope_take(&dwarf);
	return 0;
}

struct dwarf_stats dwarf_stats(const struct dwarf *dwarf)
{
	return dwarf->stats;
}

void dwarf_set_limit(struct dwarf *dwarf, size_t bytes)
{
	dwarf->limit = bytes;
}

/* Frees memory before it is too much. Nothing may be in use. */
static void trim(struct dwarf *dwarf)
{
	if (images_resident(&dwarf->images) + dwarf->table_bytes > dwarf->limit)
		images_drop(&dwarf->images);
	while (dwarf->table_bytes > dwarf->limit / 4 * 3 && dwarf->oldest != dwarf->newest)
		forget_tables(dwarf, dwarf->oldest);
}

static void count_bytes(struct dwarf *dwarf, struct unit_tables *tables)
{
	size_t bytes = sizeof(*tables) + tables->functions.bytes + tables->lines.bytes +
		       tables->names.bytes;

	dwarf->table_bytes += bytes - tables->bytes;
	tables->bytes = bytes;
}

/* The unit that has the functions: itself, or the split unit of a skeleton. */
static struct unit *function_unit(struct dwarf *dwarf, struct unit *unit)
{
	if (!unit->has_dwo || unit->split_tried)
		return unit->split ? unit->split : unit;
	unit->split_tried = true;
	unit->split = images_find_split(&dwarf->images, unit);
	if (!unit->split) {
		dwarf->stats.missing_dwo++;
		return unit;
	}
	unit->split->skeleton = unit;
	return unit->split;
}

/* The tables of a unit, created at first use. NULL without memory. */
static struct unit_tables *get_tables(struct dwarf *dwarf, struct unit *unit)
{
	struct unit_tables *tables = unit->tables;
	struct unit *split;

	if (tables) {
		if (tables != dwarf->newest) {
			unlink_tables(dwarf, tables);
			push_tables(dwarf, tables);
		}
		return tables;
	}
	tables = calloc(1, sizeof(*tables));
	if (!tables)
		return NULL;
	split = function_unit(dwarf, unit);
	if (functions_read(&tables->functions, split, false) < 0 ||
	    line_table_read(&tables->lines, unit, false) == -ENOMEM ||
	    (split != unit && line_table_read(&tables->names, split, true) == -ENOMEM)) {
		free_tables(tables);
		return NULL;
	}
	tables->unit = unit;
	unit->tables = tables;
	push_tables(dwarf, tables);
	count_bytes(dwarf, tables);
	return tables;
}

/*
 * Finds the function. If the C++ rules find none, the unit is walked again without them, once: a
 * wrong guess must not hide a function.
 */
static int find_function(struct dwarf *dwarf, struct unit_tables *tables, uint64_t vaddr,
			 const struct function_range **ret)
{
	struct functions whole;

	*ret = functions_find(&tables->functions, vaddr);
	if (*ret || tables->functions.whole)
		return 0;
	if (functions_read(&whole, tables->functions.unit, true) < 0)
		return -ENOMEM;
	if (whole.range_count == tables->functions.range_count) {
		tables->functions.whole = true; /* no more memory: keep what is known */
		functions_fini(&whole);
		return 0;
	}
	functions_fini(&tables->functions);
	tables->functions = whole;
	count_bytes(dwarf, tables);
	*ret = functions_find(&tables->functions, vaddr);
	return 0;
}

static const char *path_of(struct dwarf *dwarf, struct unit_tables *tables, uint64_t file,
			   uint32_t *ret_tree)
{
	struct line_table *names = tables->names.file_count > 0 ? &tables->names : &tables->lines;

	/* Before version 5, file 0 means unknown. */
	if (file == 0 && names->version < 5)
		return NULL;
	return line_table_path(names, file, &dwarf->arena, ret_tree);
}

static void set_name(struct dwarf *dwarf, struct dwarf_frame *frame, uint32_t number)
{
	const struct name *name = number > 0 ? &dwarf->names.items[number - 1] : NULL;

	if (name && name->text[0]) {
		frame->name = name->text;
		frame->mangled = name->mangled;
	}
}

static struct die_ref origin_of(struct unit *unit, const struct inline_call *call)
{
	uint64_t offset = unit->start + (call->origin & (INLINE_ELSEWHERE - 1));

	return (struct die_ref){unit, offset};
}

/* Adds the inlined calls around the address; each has the line and file of its call site. */
static void put_calls(struct dwarf *dwarf, struct unit_tables *tables,
		      const struct inline_table *table, uint32_t at, struct dwarf_frames *ret)
{
	while (at != INLINE_NONE && ret->count < DWARF_MAX_FRAMES - 1) {
		struct inline_call *call = &table->calls[at];
		struct dwarf_frame *frame = &ret->items[ret->count - 1];

		if (call->name == 0)
			call->name =
				names_of(&dwarf->names, origin_of(tables->functions.unit, call));
		set_name(dwarf, frame, call->name);
		frame->inlined = true;
		frame = &ret->items[ret->count++];
		*frame = (struct dwarf_frame){.line = call->line, .column = call->column};
		frame->file = path_of(dwarf, tables, call->file, &frame->tree);
		at = call->parent;
	}
}

static int find_in_unit(struct dwarf *dwarf, struct unit *unit, uint64_t vaddr,
			struct dwarf_frames *ret)
{
	struct unit_tables *tables = get_tables(dwarf, unit);
	const struct function_range *range;
	const struct line_row *row;
	struct function *function;

	ret->count = 0;
	if (!tables || find_function(dwarf, tables, vaddr, &range) < 0)
		return -ENOMEM;
	row = line_table_find(&tables->lines, vaddr);
	if (!range && !row)
		return 0;
	ret->items[ret->count++] = (struct dwarf_frame){0};
	if (row) {
		ret->items[0].file = line_table_path(&tables->lines, row->file, &dwarf->arena,
						     &ret->items[0].tree);
		ret->items[0].line = row->line;
		ret->items[0].column = row->column;
	}
	if (!range)
		return 1;
	function = &tables->functions.items[range->function];
	if (!function->inlines) {
		if (function_read_inlines(&tables->functions, function, dwarf->scratch) < 0)
			return -ENOMEM;
		count_bytes(dwarf, tables);
	}
	put_calls(dwarf, tables, function->inlines, inline_table_find(function->inlines, vaddr),
		  ret);
	if (function->name == 0)
		function->name = names_of(
			&dwarf->names, (struct die_ref){tables->functions.unit, function->offset});
	set_name(dwarf, &ret->items[ret->count - 1], function->name);
	ret->items[ret->count - 1].low = range->low;
	ret->items[ret->count - 1].high = range->high;
	return (int)ret->count;
}

/* The number of ranges that begin at or below vaddr. */
static size_t ranges_below(const struct dwarf *dwarf, uint64_t vaddr)
{
	size_t low = 0, high = dwarf->ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->ranges.items[middle].low <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Units may overlap, if only by mistake: the one with a function there is right, or else the first
 * with a line. ret_unit is the one that was used.
 */
static int find_once(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_frames *ret,
		     struct unit **ret_unit)
{
	struct dwarf_frame line_only = {0};
	struct unit *line_unit = NULL;
	size_t at = ranges_below(dwarf, vaddr);

	trim(dwarf);
	for (size_t i = 0; i < MAX_OVERLAP && at > 0; i++, at--) {
		const struct unit_range *range = &dwarf->ranges.items[at - 1];
		int r;

		if (range->reach <= vaddr)
			break;
		if (vaddr >= range->high)
			continue;
		*ret_unit = range->unit;
		r = find_in_unit(dwarf, range->unit, vaddr, ret);
		if (r < 0 || (r > 0 && ret->items[r - 1].high > 0))
			return r;
		if (r > 0 && !line_unit) {
			line_only = ret->items[0];
			line_unit = range->unit;
		}
	}
	ret->count = line_unit ? 1 : 0;
	ret->items[0] = line_only;
	*ret_unit = line_unit;
	return (int)ret->count;
}

static int find(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_frames *ret,
		struct unit **ret_unit)
{
	int r = find_once(dwarf, vaddr, ret, ret_unit);

	if (r == 0 && widen_short_units(dwarf))
		r = find_once(dwarf, vaddr, ret, ret_unit);
	return r;
}

int dwarf_find(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_frames *ret)
{
	struct unit *unit;

	return find(dwarf, vaddr, ret, &unit);
}

/* The entry of the innermost function at an address of a unit that was just searched. */
static struct die_ref innermost_entry(const struct unit_tables *tables, uint64_t vaddr)
{
	const struct function_range *range = functions_find(&tables->functions, vaddr);
	struct unit *unit = tables->functions.unit;
	const struct function *function;
	uint32_t call;

	if (!range)
		return (struct die_ref){0};
	function = &tables->functions.items[range->function];
	call = inline_table_find(function->inlines, vaddr);
	if (call != INLINE_NONE)
		return origin_of(unit, &function->inlines->calls[call]);
	return (struct die_ref){unit, function->offset};
}

static const char *make_signature(struct dwarf *dwarf, struct die_ref ref)
{
	struct bytes text = {0};
	const char *copy = NULL;

	if (!ref.unit)
		return NULL;
	names_put_signature(&text, ref);
	if (!text.failed && text.size > 0)
		copy = names_keep(&dwarf->names, (const char *)text.data, text.size);
	bytes_fini(&text);
	return copy;
}

static const char *unit_name(struct dwarf *dwarf, struct unit *unit)
{
	SCOPED(mem) struct die *root = malloc(sizeof(*root));
	const char *name = NULL;

	if (root && die_read(unit, unit->first, root))
		name = die_text(root, SLOT_NAME);
	return name ? names_keep(&dwarf->names, name, strlen(name)) : NULL;
}

/* The row at an address of a unit that was just searched; zeros when unknown. */
static struct line_details row_details(struct dwarf *dwarf, struct unit *unit, uint64_t vaddr)
{
	struct unit_tables *tables = unit->tables;
	const struct line_details *found;

	if (!tables->marks.is_read && line_marks_read(&tables->marks, unit) == 0) {
		size_t bytes = tables->marks.capacity * sizeof(*tables->marks.items);

		tables->bytes += bytes;
		dwarf->table_bytes += bytes;
	}
	found = line_marks_find(&tables->marks, vaddr);
	return found ? *found : (struct line_details){0};
}

int dwarf_find_details(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_details *ret)
{
	SCOPED(mem) struct dwarf_frames *frames = malloc(sizeof(*frames));
	struct line_details row;
	struct unit *unit;
	int r;

	if (!frames)
		return -ENOMEM;
	r = find(dwarf, vaddr, frames, &unit);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	row = row_details(dwarf, unit, vaddr);
	*ret = (struct dwarf_details){
		.unit = unit_name(dwarf, unit->split ? unit->split : unit),
		.signature = make_signature(dwarf, innermost_entry(unit->tables, vaddr)),
		.row_low = row.low,
		.row_high = row.high,
		.is_statement = row.is_statement,
		.prologue_end = row.prologue_end,
		.epilogue_begin = row.epilogue_begin,
	};
	return 0;
}
