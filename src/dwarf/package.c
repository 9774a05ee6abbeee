/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/package.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "dwarf/constants.h"

/*
 * version | columns | units | slots		4 bytes each
 * slots ids (8 bytes), slots rows (4 bytes; 0: empty, else row - 1)
 * columns section numbers
 * units rows of columns offsets
 * units rows of columns sizes
 */
struct index {
	uint32_t version, columns, units, slots;
	const uint8_t *ids, *rows, *sections, *offsets;
};

static bool read_index(struct section *section, struct index *ret)
{
	uint64_t size = section_size(section);
	const uint8_t *data = section_at(section, 0, size);
	struct cursor cursor = cursor_of(data, data ? size : 0);

	ret->version = cursor_u32(&cursor);
	if (ret->version != 2) /* DWARF 5 has 16 bits and padding, which read the same */
		ret->version &= 0xffff;
	ret->columns = cursor_u32(&cursor);
	ret->units = cursor_u32(&cursor);
	ret->slots = cursor_u32(&cursor);
	if (cursor.failed || (ret->version != 2 && ret->version != 5) || ret->columns > 16 ||
	    ret->slots == 0 || (ret->slots & (ret->slots - 1)) != 0)
		return false;
	ret->ids = cursor_take(&cursor, 8 * (size_t)ret->slots);
	ret->rows = cursor_take(&cursor, 4 * (size_t)ret->slots);
	ret->sections = cursor_take(&cursor, 4 * (size_t)ret->columns);
	ret->offsets = cursor_take(&cursor, 4 * (size_t)ret->columns * ret->units);
	return !cursor.failed;
}

static uint32_t u32_at(const uint8_t *items, size_t i)
{
	uint32_t value;

	memcpy(&value, items + 4 * i, sizeof(value));
	return value;
}

/* The row of an id, from 0; -1 without one. */
static int64_t find_row(const struct index *index, uint64_t id)
{
	uint32_t mask = index->slots - 1;
	uint32_t slot = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < index->slots; i++, slot = (slot + step) & mask) {
		uint32_t row = u32_at(index->rows, slot);
		uint64_t found;

		memcpy(&found, index->ids + 8 * (size_t)slot, sizeof(found));
		if (row == 0)
			return -1;
		if (found == id)
			return row <= index->units ? (int64_t)row - 1 : -1;
	}
	return -1;
}

static struct unit *find_known(const struct image *image, enum section_id section, uint64_t offset)
{
	for (size_t i = 0; i < image->unit_count; i++)
		if (image->units[i]->start == offset && image->units[i]->section == section)
			return image->units[i];
	return NULL;
}

struct unit *package_find(struct image *image, enum section_id index, uint64_t id)
{
	enum section_id section = SECTION_INFO;
	struct unit_bases bases = {0};
	struct unit *unit = NULL;
	struct index table;
	uint64_t start = 0;
	int64_t row;

	if (!read_index(&image->sections[index], &table))
		return NULL;
	row = find_row(&table, id);
	if (row < 0)
		return NULL;
	for (uint32_t i = 0; i < table.columns; i++) {
		uint64_t offset = u32_at(table.offsets, (size_t)row * table.columns + i);

		switch (u32_at(table.sections, i)) {
		case DW_SECT_types:
			section = SECTION_TYPES;
			start = offset;
			break;
		case DW_SECT_info:
			start = offset;
			break;
		case DW_SECT_abbrev:
			bases.abbrev = offset;
			break;
		case DW_SECT_line:
			bases.line = offset;
			break;
		case DW_SECT_str_offsets:
			bases.str_offsets = offset;
			break;
		case DW_SECT_rnglists: /* in version 2: macros, which are not read */
			bases.rnglists = offset;
			break;
		default:
			break;
		}
	}
	/* Each skeleton requests its unit once, each reference its type. */
	if (index == SECTION_TU_INDEX)
		unit = find_known(image, section, start);
	if (!unit && image_add_unit(image, start, section, &bases, &unit) < 0)
		return NULL;
	return unit;
}
