/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"

#define MAX_FUNCTIONS (1u << 24)
/* Far beyond real units; entries that share one long list must not multiply it. */
#define MAX_RANGES (1u << 22)
/* Few functions share addresses; no more than these are searched. */
#define MAX_OVERLAP 64

void functions_fini(struct functions *functions)
{
	free(functions->items);
	free(functions->ranges);
	arena_fini(&functions->arena);
	*functions = (struct functions){0};
}

const uint8_t *sibling_of(const struct unit *unit, const struct abbrev *abbrev,
			  const uint8_t *attributes, const struct entry_bytes *bytes)
{
	const uint8_t *at = attributes;
	uint64_t distance = 0;

	if (abbrev->sibling_skips == ABBREV_NO_SIBLING)
		return NULL;
	if (abbrev->sibling_bytes != ABBREV_NOT_FIXED)
		at = bytes_skip(at, bytes->end, abbrev->sibling_bytes);
	else
		at = abbrev_skip_some(unit->abbrevs, abbrev, abbrev->sibling_skips, at, bytes->end);
	if (!fixed_read(at, bytes->end, 4, &distance) ||
	    distance <= bytes->distance + (uint64_t)(attributes - bytes->start) ||
	    distance > bytes->distance + (uint64_t)(bytes->end - bytes->start))
		return NULL;
	return bytes->start + (distance - bytes->distance);
}

static bool is_cxx(const struct unit *unit)
{
	switch (unit->language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_C_plus_plus_17:
	case DW_LANG_C_plus_plus_20:
		return true;
	default:
		return false;
	}
}

static int add_function(struct functions *functions, uint64_t offset, uint64_t end,
			const struct range_list *list)
{
	struct {
		struct function *items;
		size_t count, capacity;
	} items = {functions->items, functions->count, functions->capacity};
	struct {
		struct function_range *items;
		size_t count, capacity;
	} ranges = {functions->ranges, functions->range_count, functions->range_capacity};
	int r;

	if (list->count == 0 || functions->count >= MAX_FUNCTIONS)
		return 0;
	r = vec_push(&items, (struct function){.offset = offset, .end = end});
	for (size_t i = 0; i < list->count && r == 0; i++)
		r = vec_push(&ranges,
			     (struct function_range){list->items[i].low, list->items[i].high, 0,
						     (uint32_t)functions->count});
	functions->items = items.items;
	functions->count = items.count;
	functions->capacity = items.capacity;
	functions->ranges = ranges.items;
	functions->range_count = ranges.count;
	functions->range_capacity = ranges.capacity;
	return r;
}

struct walk {
	struct functions *functions;
	struct entry_bytes bytes;
	struct range_list ranges;
	struct die die;
};

/* Adds the function whose attributes begin at at. Returns the position after them, or NULL. */
static const uint8_t *visit(struct walk *walk, const struct abbrev *abbrev, const uint8_t *entry,
			    const uint8_t *at, int *ret_error)
{
	struct unit *unit = walk->functions->unit;
	const struct entry_bytes *bytes = &walk->bytes;
	const uint8_t *sibling = sibling_of(unit, abbrev, at, bytes);
	uint64_t start = unit->start + bytes->distance;

	walk->ranges.count = 0;
	at = die_read_at(unit, abbrev, at, bytes->end, &walk->die);
	if (!at || walk->functions->range_count >= MAX_RANGES)
		return at;
	*ret_error = die_ranges(&walk->die, &walk->ranges);
	if (*ret_error == 0)
		*ret_error = add_function(walk->functions, start + (uint64_t)(entry - bytes->start),
					  sibling ? start + (uint64_t)(sibling - bytes->start)
						  : unit->end,
					  &walk->ranges);
	return at;
}

/* Walks all entries of the unit. Damage ends the walk: what was found before is used. */
static int walk_unit(struct walk *walk)
{
	struct unit *unit = walk->functions->unit;
	enum abbrev_holds jump_below = is_cxx(unit) ? HOLDS_FUNCTIONS : HOLDS_FUNCTIONS_OF_C;
	const uint8_t *at = walk->bytes.start, *end = walk->bytes.end;
	int r = 0;

	if (walk->functions->whole)
		jump_below = HOLDS_NO_FUNCTIONS;
	while (at && at < end && r == 0) {
		const uint8_t *entry = at, *next = NULL;
		const struct abbrev *abbrev;
		uint64_t code = 0;

		at = leb_read(at, end, &code);
		if (!at || code == 0)
			continue;
		abbrev = abbrev_find(unit->abbrevs, code);
		if (!abbrev)
			break;
		if (abbrev->has_children && abbrev->holds < jump_below)
			next = sibling_of(unit, abbrev, at, &walk->bytes);
		if (abbrev->tag == DW_TAG_subprogram && abbrev->has_code)
			at = visit(walk, abbrev, entry, at, &r);
		else if (!next)
			at = abbrev_skip(unit->abbrevs, abbrev, at, end);
		at = next ? next : at;
	}
	return r;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct function_range *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	/* The wider one first: a backward search reaches the narrower one first. */
	if (left->high != right->high)
		return left->high > right->high ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static void sort_ranges(struct functions *functions)
{
	uint64_t reach = 0;

	if (functions->range_count > 0)
		qsort(functions->ranges, functions->range_count, sizeof(*functions->ranges),
		      compare_ranges);
	for (size_t i = 0; i < functions->range_count; i++) {
		reach = functions->ranges[i].high > reach ? functions->ranges[i].high : reach;
		functions->ranges[i].reach = reach;
	}
}

int functions_read(struct functions *ret, struct unit *unit, bool whole)
{
	struct functions functions = {.unit = unit, .whole = whole};
	SCOPED(mem) struct walk *walk = calloc(1, sizeof(*walk));
	uint64_t size = unit->end - unit->first;
	const uint8_t *start = unit_open(unit) ? unit_bytes(unit, unit->first, size) : NULL;
	int r = walk ? 0 : -ENOMEM;

	if (walk && start) {
		walk->functions = &functions;
		walk->bytes = (struct entry_bytes){start, start + size, unit->first - unit->start};
		r = walk_unit(walk);
		vec_fini(&walk->ranges);
	}
	if (r < 0) {
		functions_fini(&functions);
		return r;
	}
	sort_ranges(&functions);
	functions.bytes = functions.capacity * sizeof(*functions.items) +
			  functions.range_capacity * sizeof(*functions.ranges);
	*ret = functions;
	return 0;
}

const struct function_range *functions_find(const struct functions *functions, uint64_t address)
{
	size_t low = 0, high = functions->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < MAX_OVERLAP && low > 0; i++, low--) {
		const struct function_range *range = &functions->ranges[low - 1];

		if (range->reach <= address)
			return NULL;
		if (address < range->high)
			return range;
	}
	return NULL;
}
