/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/ranges.h"

#include <errno.h>

#include "base/leb.h"
#include "base/vec.h"
#include "dwarf/constants.h"

#define MAX_RANGES (1u << 20)
#define WINDOW_BYTES 4096

struct list {
	struct unit *unit;
	struct section *section;
	uint64_t at;   /* next byte to be read, in the section */
	uint64_t base; /* added to offsets */
	struct range_list *ret;
};

static int add_range(struct range_list *ret, uint64_t low, uint64_t high)
{
	if (low < 2 || low >= UINT64_MAX - 1 || high <= low)
		return 0;
	return vec_push(ret, (struct range){low, high});
}

/* .debug_ranges: pairs of addresses; all ones select a base, zeros end the list. */
static int read_pairs(struct list *list)
{
	size_t n = list->unit->shape.address_bytes;
	uint64_t ones = n == 8 ? UINT64_MAX : UINT32_MAX;

	for (size_t i = 0; i < MAX_RANGES; i++) {
		const uint8_t *at = section_at(list->section, list->at, 2 * n);
		uint64_t low = 0, high = 0;

		if (!at)
			return 0;
		(void)fixed_read(fixed_read(at, at + 2 * n, n, &low), at + 2 * n, n, &high);
		list->at += 2 * n;
		if (low == 0 && high == 0)
			return 0;
		if (low == ones)
			list->base = high;
		else if (low < ones - 1 && list->base < ones - 1 &&
			 add_range(list->ret, list->base + low, list->base + high) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct entry {
	uint64_t low, high;
	bool is_range;
};

static bool is_tombstone(uint64_t address)
{
	return address >= UINT64_MAX - 1;
}

/* Reads one entry of .debug_rnglists. NULL at the end of the list and if it is damaged. */
static const uint8_t *read_entry(struct list *list, const uint8_t *at, const uint8_t *end,
				 struct entry *ret)
{
	size_t n = list->unit->shape.address_bytes;
	uint64_t kind = 0, a = 0, b = 0;

	*ret = (struct entry){0};
	at = fixed_read(at, end, 1, &kind);
	switch (kind) {
	case DW_RLE_base_addressx:
		at = leb_read(at, end, &a);
		return at && unit_indexed_address(list->unit, a, &list->base) ? at : NULL;
	case DW_RLE_startx_endx:
	case DW_RLE_startx_length:
		at = leb_read(leb_read(at, end, &a), end, &b);
		if (!at || !unit_indexed_address(list->unit, a, &ret->low))
			return NULL;
		ret->high = ret->low + b;
		if (kind == DW_RLE_startx_endx && !unit_indexed_address(list->unit, b, &ret->high))
			return NULL;
		break;
	case DW_RLE_offset_pair:
		at = leb_read(leb_read(at, end, &a), end, &b);
		ret->low = is_tombstone(list->base) ? UINT64_MAX : list->base + a;
		ret->high = list->base + b;
		break;
	case DW_RLE_base_address:
		return fixed_read(at, end, n, &list->base);
	case DW_RLE_start_end:
		at = fixed_read(fixed_read(at, end, n, &ret->low), end, n, &ret->high);
		break;
	case DW_RLE_start_length:
		at = leb_read(fixed_read(at, end, n, &ret->low), end, &b);
		ret->high = ret->low + b;
		break;
	case DW_RLE_end_of_list:
	default:
		return NULL;
	}
	ret->is_range = true;
	return at;
}

static int read_list(struct list *list)
{
	uint64_t size = section_size(list->section);
	size_t count = 0;

	while (list->at < size && count < MAX_RANGES) {
		uint64_t n = size - list->at < WINDOW_BYTES ? size - list->at : WINDOW_BYTES;
		const uint8_t *start = section_at(list->section, list->at, n);
		const uint8_t *at = start, *next;
		struct entry entry;

		if (!start)
			return 0;
		/* An entry has at most 21 bytes: one that is cut is read with the next window. */
		while ((size_t)(start + n - at) > 24 || n < WINDOW_BYTES) {
			next = read_entry(list, at, start + n, &entry);
			if (!next || count++ >= MAX_RANGES)
				return 0;
			at = next;
			if (entry.is_range && add_range(list->ret, entry.low, entry.high) < 0)
				return -ENOMEM;
		}
		list->at += (uint64_t)(at - start);
	}
	return 0;
}

/* Where the i-th list of the unit begins, from the table at its base. */
static bool indexed_list(struct section *section, const struct unit *unit, uint64_t i,
			 uint64_t *ret)
{
	size_t n = unit->shape.offset_bytes;
	const uint8_t *at;

	if (i > UINT64_MAX / 16 || unit->rnglists_base > UINT64_MAX / 2)
		return false;
	at = section_at(section, unit->rnglists_base + i * n, n);
	if (!at || !fixed_read(at, at + n, n, ret) || *ret > UINT64_MAX / 2)
		return false;
	*ret += unit->rnglists_base;
	return true;
}

static int read_ranges(struct unit *unit, const struct value *value, struct range_list *ret)
{
	struct unit *owner = unit->skeleton ? unit->skeleton : unit;
	struct list list = {.unit = unit, .at = value->number, .base = owner->low_pc, .ret = ret};

	if (unit->shape.version >= 5) {
		list.section = &unit->image->sections[SECTION_RNGLISTS];
		if (value->form == DW_FORM_rnglistx &&
		    !indexed_list(list.section, unit, value->number, &list.at))
			return 0;
		if (value->form != DW_FORM_rnglistx && unit->image->split)
			list.at += unit->bases.rnglists;
		return read_list(&list);
	}
	/*
	 * In GNU's split DWARF 4 they are in the program, relative to a base; the skeleton's own
	 * have none.
	 */
	list.section = &owner->image->sections[SECTION_RANGES];
	if (unit->skeleton)
		list.at += owner->ranges_base;
	return read_pairs(&list);
}

/* high_pc is an address, or the size when it is a number. */
static int add_low_high(uint64_t low, const struct value *high, struct range_list *ret)
{
	switch (high->form) {
	case DW_FORM_addr:
		return add_range(ret, low, high->number);
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
		return high->number > UINT64_MAX - low ? 0
						       : add_range(ret, low, low + high->number);
	default:
		return 0;
	}
}

int die_ranges(const struct die *die, struct range_list *ret)
{
	struct value high = die->values[SLOT_HIGH_PC];
	uint64_t low;

	if (die_has(die, SLOT_RANGES))
		return read_ranges(die->unit, &die->values[SLOT_RANGES], ret);
	if (!die_has(die, SLOT_HIGH_PC) || !die_address(die, SLOT_LOW_PC, &low))
		return 0;
	if (die_address(die, SLOT_HIGH_PC, &high.number))
		high.form = DW_FORM_addr;
	return add_low_high(low, &high, ret);
}

int unit_ranges(struct unit *unit, struct range_list *ret)
{
	if (unit->ranges.form)
		return read_ranges(unit, &unit->ranges, ret);
	return unit->high_pc.form ? add_low_high(unit->low_pc, &unit->high_pc, ret) : 0;
}
