/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * inlines: the calls inlined into one function; declared in functions.h.
 *
 * The entries below a function form a tree. Their ranges, sorted by where they
 * begin, are swept once with a stack of the calls that are open:
 *
 *	function  |---------------------------------|
 *	call 0        |------------------|
 *	call 1           |-----|   |--|
 *	changes       0  1     0   1  0  none
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/functions.h"

#define MAX_DEPTH 256
#define MAX_LEVEL 128
#define MAX_CALLS (1u << 24)
#define MAX_RANGES (1u << 22) /* in a function: as in functions.c */

struct call_range {
	uint64_t low, high;
	uint32_t call;
	uint32_t level;
};

struct inline_scratch {
	struct die die;
	struct range_list list;
	VEC(struct inline_call) calls;
	VEC(struct call_range) ranges;
	VEC(struct call_range) spare;
	VEC(struct inline_change) changes;
	uint32_t innermost[MAX_DEPTH]; /* the call around the entries at each depth */
	uint32_t levels[MAX_DEPTH];
	struct call_range open[MAX_LEVEL + 1];
};

struct inline_scratch *inline_scratch_new(void)
{
	return calloc(1, sizeof(struct inline_scratch));
}

void inline_scratch_free(struct inline_scratch *scratch)
{
	if (!scratch)
		return;
	vec_fini(&scratch->list);
	vec_fini(&scratch->calls);
	vec_fini(&scratch->ranges);
	vec_fini(&scratch->spare);
	vec_fini(&scratch->changes);
	free(scratch);
}

/* Whether calls may be inlined inside an entry. */
static bool may_hold_calls(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case 0x22: /* with statement */
	case 0x25: /* catch block */
	case 0x32: /* try block */
		return true;
	default:
		return false;
	}
}

static uint32_t small(const struct die *die, enum die_slot slot, uint32_t max)
{
	uint64_t number = 0;

	if (!die_number(die, slot, &number) || number > max)
		return 0;
	return (uint32_t)number;
}

static struct inline_call make_call(const struct die *die, uint32_t parent)
{
	struct die_ref origin = die_reference(die, SLOT_ABSTRACT_ORIGIN);
	uint64_t distance = die->offset - die->unit->start;
	uint32_t mark = INLINE_ELSEWHERE;

	if (origin.unit == die->unit) {
		distance = origin.offset - die->unit->start;
		mark = 0;
	}
	return (struct inline_call){
		.origin = (uint32_t)(distance & (INLINE_ELSEWHERE - 1)) | mark,
		.parent = parent,
		.line = small(die, SLOT_CALL_LINE, UINT32_MAX),
		.file = (uint16_t)small(die, SLOT_CALL_FILE, UINT16_MAX),
		.column = (uint16_t)small(die, SLOT_CALL_COLUMN, UINT16_MAX),
	};
}

/* Adds the call in scratch->die. Returns the innermost call inside it. */
static int64_t add_call(struct inline_scratch *scratch, uint32_t parent, uint32_t level)
{
	uint32_t call = (uint32_t)scratch->calls.count;

	scratch->list.count = 0;
	if (scratch->ranges.count >= MAX_RANGES)
		return parent;
	if (die_ranges(&scratch->die, &scratch->list) < 0)
		return -ENOMEM;
	if (scratch->list.count == 0 || level >= MAX_LEVEL || call >= MAX_CALLS)
		return parent;
	if (vec_push(&scratch->calls, make_call(&scratch->die, parent)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < scratch->list.count; i++) {
		struct range range = scratch->list.items[i];

		if (vec_push(&scratch->ranges,
			     (struct call_range){range.low, range.high, call, level}) < 0)
			return -ENOMEM;
	}
	return call;
}

struct walk {
	struct unit *unit;
	struct entry_bytes bytes; /* of the function's entry and those below it */
	const uint8_t *at;
	uint64_t offset; /* of the first byte */
	size_t depth;
	size_t muted; /* depth below which entries belong to another function; 0: none */
};

/* Handles one entry that is not null, whose attributes are at walk->at. */
static int visit(struct inline_scratch *scratch, struct walk *walk, const struct abbrev *abbrev,
		 uint64_t offset)
{
	size_t depth = walk->depth < MAX_DEPTH ? walk->depth : MAX_DEPTH - 1;
	uint32_t parent = scratch->innermost[depth];
	uint32_t level = scratch->levels[depth];
	uint32_t inner = parent;
	const uint8_t *next = NULL;

	if (abbrev->has_children && !may_hold_calls(abbrev->tag))
		next = sibling_of(walk->unit, abbrev, walk->at, &walk->bytes);
	if (abbrev->tag == DW_TAG_inlined_subroutine && abbrev->has_code && walk->muted == 0) {
		int64_t call;

		scratch->die.offset = offset;
		walk->at =
			die_read_at(walk->unit, abbrev, walk->at, walk->bytes.end, &scratch->die);
		if (!walk->at)
			return 0;
		call = add_call(scratch, parent, level);
		if (call < 0)
			return (int)call;
		inner = (uint32_t)call;
		level += inner != parent;
	} else if (!next) {
		walk->at = abbrev_skip(walk->unit->abbrevs, abbrev, walk->at, walk->bytes.end);
	}
	if (next) {
		walk->at = next;
		return 0;
	}
	if (!abbrev->has_children)
		return 0;
	walk->depth++;
	if (walk->depth < MAX_DEPTH) {
		scratch->innermost[walk->depth] = inner;
		scratch->levels[walk->depth] = level;
	}
	if (abbrev->tag == DW_TAG_subprogram && walk->muted == 0)
		walk->muted = walk->depth;
	return 0;
}

/* Reads the entries below the function's. Damage ends the walk. */
static int read_calls(struct inline_scratch *scratch, struct walk *walk)
{
	const struct abbrev *abbrev;
	uint64_t code = 0;
	int r;

	walk->at = leb_read(walk->bytes.start, walk->bytes.end, &code);
	abbrev = walk->at && code ? abbrev_find(walk->unit->abbrevs, code) : NULL;
	if (!abbrev || !abbrev->has_children)
		return 0;
	walk->at = abbrev_skip(walk->unit->abbrevs, abbrev, walk->at, walk->bytes.end);
	walk->depth = 1;
	scratch->innermost[1] = INLINE_NONE;
	scratch->levels[1] = 0;
	while (walk->depth > 0 && walk->at && walk->at < walk->bytes.end) {
		uint64_t offset = walk->offset + (uint64_t)(walk->at - walk->bytes.start);

		walk->at = leb_read(walk->at, walk->bytes.end, &code);
		if (walk->at && code == 0) {
			walk->depth--;
			if (walk->depth < walk->muted)
				walk->muted = 0;
			continue;
		}
		abbrev = walk->at ? abbrev_find(walk->unit->abbrevs, code) : NULL;
		if (!abbrev)
			break;
		r = visit(scratch, walk, abbrev, offset);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool comes_before(const struct call_range *a, const struct call_range *b)
{
	return a->low != b->low ? a->low < b->low : a->level < b->level;
}

/* Merges [low, middle) and [middle, high) of from into to. */
static void merge(const struct call_range *from, struct call_range *to, size_t low, size_t middle,
		  size_t high)
{
	size_t a = low, b = middle;

	for (size_t i = low; i < high; i++) {
		if (b >= high || (a < middle && !comes_before(&from[b], &from[a])))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* A merge sort, because ranges are nearly sorted in runs. Returns where the result is. */
static struct call_range *sort_ranges(struct call_range *items, struct call_range *spare,
				      size_t count)
{
	bool sorted = true;

	for (size_t i = 1; i < count && sorted; i++)
		sorted = !comes_before(&items[i], &items[i - 1]);
	if (sorted)
		return items;
	for (size_t width = 1; width < count; width *= 2) {
		struct call_range *swap = items;

		for (size_t low = 0; low < count; low += 2 * width) {
			size_t middle = low + width < count ? low + width : count;
			size_t high = low + 2 * width < count ? low + 2 * width : count;

			merge(items, spare, low, middle, high);
		}
		items = spare;
		spare = swap;
	}
	return items;
}

static void add_change(struct inline_scratch *scratch, uint64_t base, uint64_t address,
		       uint32_t call)
{
	struct inline_change change = {(uint32_t)(address - base), call};
	struct inline_change *last = scratch->changes.count > 0
					     ? &scratch->changes.items[scratch->changes.count - 1]
					     : NULL;

	if (address - base >= UINT32_MAX)
		return;
	if (last && last->distance == change.distance)
		last->call = call;
	else if (!last || last->call != call)
		scratch->changes.items[scratch->changes.count++] = change; /* room is reserved */
}

/* Closes the calls that end at or before address. */
static size_t close_calls(struct inline_scratch *scratch, size_t depth, uint64_t base,
			  uint64_t address)
{
	while (depth > 0 && scratch->open[depth - 1].high <= address) {
		uint64_t high = scratch->open[depth - 1].high;

		while (depth > 0 && scratch->open[depth - 1].high <= high)
			depth--;
		add_change(scratch, base, high,
			   depth > 0 ? scratch->open[depth - 1].call : INLINE_NONE);
	}
	return depth;
}

static int sweep(struct inline_scratch *scratch, uint64_t *ret_base)
{
	size_t count = scratch->ranges.count, depth = 0;
	struct call_range *ranges;
	uint64_t base;

	scratch->changes.count = 0;
	*ret_base = 0;
	if (count == 0)
		return 0;
	if (vec_reserve(&scratch->spare, count) < 0 ||
	    vec_reserve(&scratch->changes, 2 * count) < 0)
		return -ENOMEM;
	ranges = sort_ranges(scratch->ranges.items, scratch->spare.items, count);
	*ret_base = base = ranges[0].low;
	for (size_t i = 0; i < count; i++) {
		depth = close_calls(scratch, depth, base, ranges[i].low);
		/* More are open than there are levels only in damaged files. */
		if (depth > MAX_LEVEL)
			depth = MAX_LEVEL;
		scratch->open[depth++] = ranges[i];
		add_change(scratch, base, ranges[i].low, ranges[i].call);
	}
	(void)close_calls(scratch, depth, base, UINT64_MAX);
	return 0;
}

int function_read_inlines(struct functions *functions, struct function *function,
			  struct inline_scratch *scratch)
{
	struct unit *unit = functions->unit;
	uint64_t size = function->end - function->offset;
	struct walk walk = {.unit = unit, .offset = function->offset};
	struct inline_table *table = arena_alloc(&functions->arena, sizeof(*table));
	size_t call_bytes, change_bytes;

	walk.bytes.start = unit_bytes(unit, function->offset, size);
	walk.bytes.end = walk.bytes.start ? walk.bytes.start + size : NULL;
	walk.bytes.distance = function->offset - unit->start;
	scratch->calls.count = scratch->ranges.count = 0;
	if (!table || (walk.bytes.start && read_calls(scratch, &walk) < 0))
		return -ENOMEM;
	*table = (struct inline_table){0};
	if (sweep(scratch, &table->base) < 0)
		return -ENOMEM;
	call_bytes = scratch->calls.count * sizeof(*table->calls);
	change_bytes = scratch->changes.count * sizeof(*table->changes);
	if (scratch->changes.count > 0) {
		table->calls = arena_alloc(&functions->arena, call_bytes);
		table->changes = arena_alloc(&functions->arena, change_bytes);
		if (!table->calls || !table->changes)
			return -ENOMEM;
		memcpy(table->calls, scratch->calls.items, call_bytes);
		memcpy(table->changes, scratch->changes.items, change_bytes);
		table->call_count = scratch->calls.count;
		table->change_count = scratch->changes.count;
	}
	functions->bytes += sizeof(*table) + call_bytes + change_bytes;
	function->inlines = table;
	return 0;
}

uint32_t inline_table_find(const struct inline_table *table, uint64_t address)
{
	uint32_t wanted = (uint32_t)(address - table->base);
	size_t low = 0, left = table->change_count;

	if (left == 0 || address < table->base || address - table->base >= UINT32_MAX)
		return INLINE_NONE;
	while (left > 1) {
		size_t half = left / 2;

		low += table->changes[low + half].distance <= wanted ? half : 0;
		left -= half;
	}
	return table->changes[low].call;
}
