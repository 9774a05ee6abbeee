/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/leb.h"

#define MAX_FUNCTIONS (1u << 24)
/* Functions that share addresses are few; more than these are not looked through. */
#define MAX_OVERLAP 64

void functions_fini(struct functions *functions)
{
	free(functions->items);
	free(functions->ranges);
	arena_fini(&functions->arena);
	*functions = (struct functions){0};
}

const uint8_t *sibling_of(const struct unit *unit, const struct abbrev *abbrev,
			  const uint8_t *attributes, const uint8_t *end)
{
	uint64_t distance = 0, here;
	const uint8_t *at;

	if (abbrev->sibling_skips == ABBREV_NO_SIBLING)
		return NULL;
	at = abbrev_skip_some(unit->abbrevs, abbrev, abbrev->sibling_skips, attributes, end);
	if (!fixed_read(at, end, 4, &distance))
		return NULL;
	/* The bytes of a unit are one piece: distances are those between pointers. */
	here = unit->end - unit->start - (uint64_t)(end - attributes);
	if (distance <= here || distance > unit->end - unit->start)
		return NULL;
	return attributes + (distance - here);
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

/*
 * Whether functions with code may stand inside. C++ compilers put them into the
 * unit or a namespace; others nest functions and put them into types.
 */
static bool may_hold_functions(uint32_t tag, bool cxx)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return !cxx;
	default:
		return false;
	}
}

static int add_function(struct functions *functions, uint64_t offset, const struct range_list *list)
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
	r = vec_push(&items, (struct function){.offset = offset});
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

/* Walks all entries of the unit. Damage ends the walk: what was found before it counts. */
static int walk(struct functions *functions, struct range_list *ranges, struct die *die)
{
	struct unit *unit = functions->unit;
	uint64_t size = unit->end - unit->first;
	const uint8_t *start = unit_bytes(unit, unit->first, size);
	const uint8_t *at = start, *end = start ? start + size : NULL;
	bool cxx = is_cxx(unit);

	while (at && at < end) {
		const uint8_t *entry = at, *next = NULL;
		const struct abbrev *abbrev;
		uint64_t code = 0;

		at = leb_read(at, end, &code);
		if (!at || code == 0)
			continue;
		abbrev = abbrev_find(unit->abbrevs, code);
		if (!abbrev)
			break;
		if (abbrev->has_children && !functions->whole &&
		    !may_hold_functions(abbrev->tag, cxx))
			next = sibling_of(unit, abbrev, at, end);
		if (abbrev->tag == DW_TAG_subprogram && abbrev->has_code) {
			ranges->count = 0;
			at = die_read_at(unit, abbrev, at, end, die);
			if (at && (die_ranges(die, ranges) < 0 ||
				   add_function(functions, unit->first + (uint64_t)(entry - start),
						ranges) < 0))
				return -ENOMEM;
		} else if (!next) {
			at = abbrev_skip(unit->abbrevs, abbrev, at, end);
		}
		at = next ? next : at;
	}
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct function_range *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	/* The wider one first: a search from behind meets the narrower one before it. */
	if (left->high != right->high)
		return left->high > right->high ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

int functions_read(struct functions *ret, struct unit *unit, bool whole)
{
	struct functions functions = {.unit = unit, .whole = whole};
	struct range_list ranges = {0};
	struct die *die = malloc(sizeof(*die));
	uint64_t reach = 0;
	int r = die ? 0 : -ENOMEM;

	if (r == 0 && unit_open(unit))
		r = walk(&functions, &ranges, die);
	free(die);
	vec_fini(&ranges);
	if (r < 0) {
		functions_fini(&functions);
		return r;
	}
	if (functions.range_count > 0)
		qsort(functions.ranges, functions.range_count, sizeof(*functions.ranges),
		      compare_ranges);
	for (size_t i = 0; i < functions.range_count; i++) {
		reach = functions.ranges[i].high > reach ? functions.ranges[i].high : reach;
		functions.ranges[i].reach = reach;
	}
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
