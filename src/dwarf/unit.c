/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/package.h"
#include "dwarf/scopes.h"
#include "elf/elf.h"

#define MAX_UNITS (1u << 22)
/* Tables are read once and root entries are at their start: 1 GB is more than any program needs. */
#define ABBREV_BUDGET (1ull << 30)
#define HEADER_BYTES 40 /* the longest: 64-bit DWARF 5 type unit */
/* A root entry with its header fits into this; if not, the whole unit is read. */
#define FIRST_BYTES 512

static const char *const section_names[SECTIONS] = {
	[SECTION_INFO] = "debug_info",         [SECTION_TYPES] = "debug_types",
	[SECTION_ABBREV] = "debug_abbrev",     [SECTION_STR] = "debug_str",
	[SECTION_LINE] = "debug_line",         [SECTION_LINE_STR] = "debug_line_str",
	[SECTION_RANGES] = "debug_ranges",     [SECTION_RNGLISTS] = "debug_rnglists",
	[SECTION_ADDR] = "debug_addr",         [SECTION_STR_OFFSETS] = "debug_str_offsets",
	[SECTION_CU_INDEX] = "debug_cu_index", [SECTION_TU_INDEX] = "debug_tu_index",
};

struct image *image_new(struct elf_file *elf, bool split)
{
	struct image *image = calloc(1, sizeof(*image));
	char name[64];

	if (!image)
		return NULL;
	image->elf = elf;
	image->split = split;
	image->abbrev_budget = ABBREV_BUDGET;
	for (size_t i = 0; i < SECTIONS; i++) {
		/* Only indices of packages have no suffix. */
		bool suffix = split && i != SECTION_CU_INDEX && i != SECTION_TU_INDEX;

		(void)snprintf(name, sizeof(name), "%s%s", section_names[i], suffix ? ".dwo" : "");
		section_init(&image->sections[i], elf, name);
	}
	return image;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < SECTIONS; i++)
		section_fini(&image->sections[i]);
	for (size_t i = 0; i < image->unit_count; i++) {
		scope_tree_free(image->units[i]->scopes);
		free(image->units[i]);
	}
	free(image->units);
	for (size_t i = 0; i < image->table_count; i++)
		abbrev_table_free(image->tables[i]);
	free(image->tables);
	id_index_fini(&image->table_index);
	free(image->signatures);
	elf_close(image->elf);
	free(image);
}

void image_drop(struct image *image)
{
	for (size_t i = 0; i < SECTIONS; i++)
		section_drop(&image->sections[i]);
}

uint64_t image_resident(const struct image *image)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SECTIONS; i++)
		if (!image->sections[i].inflated) /* inflated bytes cannot be dropped */
			sum += image->sections[i].resident;
	return sum;
}

/* Reads what follows the length. Returns the position after the header, or NULL. */
static const uint8_t *parse_header(struct unit *unit, const uint8_t *at, const uint8_t *end)
{
	uint64_t version = 0, kind = DW_UT_compile, address_bytes = 0;
	size_t n = unit->shape.offset_bytes;

	at = fixed_read(at, end, 2, &version);
	if (!at || version < 2 || version > 5)
		return NULL;
	if (version == 5) {
		at = fixed_read(at, end, 1, &kind);
		at = fixed_read(at, end, 1, &address_bytes);
		at = fixed_read(at, end, n, &unit->abbrev_offset);
	} else {
		at = fixed_read(at, end, n, &unit->abbrev_offset);
		at = fixed_read(at, end, 1, &address_bytes);
		if (unit->section == SECTION_TYPES)
			kind = DW_UT_type;
	}
	if (kind == DW_UT_type || kind == DW_UT_split_type) {
		at = fixed_read(at, end, 8, &unit->signature);
		at = fixed_read(at, end, n, &unit->type_offset);
	} else if (kind == DW_UT_skeleton || kind == DW_UT_split_compile) {
		at = fixed_read(at, end, 8, &unit->signature);
	}
	if (kind < DW_UT_compile || kind > DW_UT_split_type ||
	    (address_bytes != 8 && address_bytes != 4))
		return NULL;
	unit->shape.version = (uint8_t)version;
	unit->shape.address_bytes = (uint8_t)address_bytes;
	unit->kind = (uint8_t)kind;
	return at;
}

int unit_read_header(struct image *image, enum section_id section, uint64_t offset,
		     struct unit **ret, uint64_t *ret_next)
{
	SCOPED(mem) struct unit *unit = NULL;
	uint64_t size = section_size(&image->sections[section]);
	uint64_t n, length = 0;
	const uint8_t *start, *at;

	if (offset >= size)
		return -EBADMSG;
	n = size - offset < HEADER_BYTES ? size - offset : HEADER_BYTES;
	start = section_at(&image->sections[section], offset, n);
	if (!start)
		return -EBADMSG;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	*unit = (struct unit){.image = image, .section = section, .start = offset};
	unit->shape.offset_bytes = 4;
	at = fixed_read(start, start + n, 4, &length);
	if (at && length == UINT32_MAX) {
		unit->shape.offset_bytes = 8;
		at = fixed_read(at, start + n, 8, &length);
	}
	if (!at || length == 0 || length > size - offset - (uint64_t)(at - start))
		return -EBADMSG;
	unit->end = *ret_next = offset + (uint64_t)(at - start) + length;
	at = parse_header(unit, at, start + n);
	if (!at || offset + (uint64_t)(at - start) > unit->end)
		unit->bad = true; /* useless, but the next one can be found */
	else
		unit->first = offset + (uint64_t)(at - start);
	*ret = scope_take(&unit);
	return 0;
}

static int add_unit(struct image *image, struct unit *unit)
{
	struct {
		struct unit **items;
		size_t count, capacity;
	} units = {image->units, image->unit_count, image->unit_capacity};
	struct {
		struct signature *items;
		size_t count, capacity;
	} signatures = {image->signatures, image->signature_count, image->signature_capacity};
	bool type = unit->kind == DW_UT_type || unit->kind == DW_UT_split_type;
	int r = vec_push(&units, unit);

	image->units = units.items;
	image->unit_count = units.count;
	image->unit_capacity = units.capacity;
	if (r < 0) {
		free(unit);
		return r;
	}
	if (unit->bad || !type)
		return 0;
	r = vec_push(&signatures, (struct signature){unit->signature, unit});
	image->signatures = signatures.items;
	image->signature_count = signatures.count;
	image->signature_capacity = signatures.capacity;
	return r;
}

static int compare_signatures(const void *a, const void *b)
{
	const struct signature *left = a, *right = b;

	return (left->signature > right->signature) - (left->signature < right->signature);
}

int image_read_units(struct image *image)
{
	static const enum section_id sections[] = {SECTION_INFO, SECTION_TYPES};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		uint64_t size = section_size(&image->sections[sections[i]]);
		uint64_t offset = 0;

		image->types_at = image->unit_count;
		while (offset < size && image->unit_count < MAX_UNITS) {
			struct unit *unit;
			int r = unit_read_header(image, sections[i], offset, &unit, &offset);

			if (r == -EBADMSG)
				break;
			if (r < 0 || add_unit(image, unit) < 0)
				return -ENOMEM;
		}
	}
	if (image->signature_count > 0)
		qsort(image->signatures, image->signature_count, sizeof(*image->signatures),
		      compare_signatures);
	return 0;
}

int image_add_unit(struct image *image, uint64_t offset, enum section_id section,
		   const struct unit_bases *bases, struct unit **ret)
{
	uint64_t next;
	struct unit *unit;
	int r = unit_read_header(image, section, offset, &unit, &next);

	if (r < 0)
		return r;
	unit->bases = *bases;
	r = add_unit(image, unit);
	if (r < 0)
		return r;
	*ret = unit;
	return 0;
}

struct unit *image_find_unit(struct image *image, uint64_t offset)
{
	size_t low = 0, high = image->types_at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->units[middle]->end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == image->types_at || image->units[low]->bad || offset < image->units[low]->first)
		return NULL;
	return image->units[low];
}

struct unit *image_find_type(struct image *image, uint64_t signature)
{
	struct signature key = {.signature = signature};
	const struct signature *found = NULL;

	if (section_exists(&image->sections[SECTION_TU_INDEX]))
		return package_find(image, SECTION_TU_INDEX, signature);
	if (image->signature_count > 0)
		found = bsearch(&key, image->signatures, image->signature_count,
				sizeof(*image->signatures), compare_signatures);
	return found ? found->unit : NULL;
}

const uint8_t *unit_bytes(struct unit *unit, uint64_t offset, uint64_t n)
{
	if (offset < unit->start || offset > unit->end || n > unit->end - offset)
		return NULL;
	return section_at(&unit->image->sections[unit->section], offset, n);
}

static bool parse_root(struct unit *unit, uint64_t n, struct die *ret)
{
	const uint8_t *start = unit_bytes(unit, unit->first, n);
	const struct abbrev *abbrev;
	const uint8_t *at;
	uint64_t code = 0;

	at = start ? leb_read(start, start + n, &code) : NULL;
	if (!at || code == 0)
		return false;
	abbrev = abbrev_find(unit->abbrevs, code);
	return abbrev && die_read_at(unit, abbrev, at, start + n, ret);
}

/* Reads the root entry, with only as many abbreviations as needed. */
static bool read_root(struct unit *unit, struct abbrev_table **ret_table, struct die *ret)
{
	uint64_t left = unit->end - unit->first, code = 0;
	uint64_t n = left < FIRST_BYTES ? left : FIRST_BYTES;
	struct section *abbrevs = &unit->image->sections[SECTION_ABBREV];
	const uint8_t *at = unit_bytes(unit, unit->first, n);

	if (!at || !leb_read(at, at + n, &code) || code == 0 ||
	    unit->abbrev_offset > UINT64_MAX - unit->bases.abbrev ||
	    abbrev_table_read(abbrevs, unit->bases.abbrev + unit->abbrev_offset, unit->shape, code,
			      &unit->image->abbrev_budget, ret_table) < 0)
		return false;
	unit->abbrevs = *ret_table;
	return parse_root(unit, n, ret) || parse_root(unit, left, ret);
}

static void set_bases(struct unit *unit, const struct die *root)
{
	bool wide = unit->shape.offset_bytes == 8;
	bool five = unit->shape.version >= 5;

	/* The default is right after the header of the unit's part of the section. */
	unit->str_offsets_base = unit->bases.str_offsets + (five ? wide ? 16 : 8 : 0);
	unit->rnglists_base = unit->bases.rnglists + (wide ? 20 : 12);
	unit->addr_base = five ? wide ? 16 : 8 : 0;
	if (!unit->image->split) {
		(void)die_number(root, SLOT_STR_OFFSETS_BASE, &unit->str_offsets_base);
		(void)die_number(root, SLOT_RNGLISTS_BASE, &unit->rnglists_base);
	}
	(void)die_number(root, SLOT_ADDR_BASE, &unit->addr_base);
	(void)die_number(root, SLOT_GNU_RANGES_BASE, &unit->ranges_base);
}

static void keep_root(struct unit *unit, const struct die *root)
{
	uint64_t language = 0;

	set_bases(unit, root);
	unit->tag = root->abbrev->tag;
	unit->dwo_id = unit->signature;
	(void)die_number(root, SLOT_DWO_ID, &unit->dwo_id);
	(void)die_number(root, SLOT_LANGUAGE, &language);
	unit->language = (uint32_t)language;
	unit->has_dwo = die_has(root, SLOT_DWO_NAME);
	unit->has_line = die_number(root, SLOT_STMT_LIST, &unit->line_offset);
	unit->line_offset += unit->bases.line;
	(void)die_address(root, SLOT_LOW_PC, &unit->low_pc);
	if (die_has(root, SLOT_LOW_PC) && die_has(root, SLOT_HIGH_PC))
		unit->high_pc = root->values[SLOT_HIGH_PC];
	if (die_has(root, SLOT_RANGES))
		unit->ranges = root->values[SLOT_RANGES];
}

bool unit_prepare(struct unit *unit)
{
	struct abbrev_table *table = NULL;
	struct die root;

	if (unit->prepared || unit->bad)
		return !unit->bad;
	unit->prepared = true;
	if (read_root(unit, &table, &root))
		keep_root(unit, &root);
	else
		unit->bad = true;
	unit->abbrevs = NULL;
	abbrev_table_free(table);
	return !unit->bad;
}

static bool same_shape(struct unit_shape a, struct unit_shape b)
{
	return (a.version == 2) == (b.version == 2) && a.address_bytes == b.address_bytes &&
	       a.offset_bytes == b.offset_bytes;
}

static struct abbrev_table *find_table(const struct image *image, uint64_t hash, uint64_t offset,
				       struct unit_shape shape)
{
	struct id_probe probe = id_index_probe(&image->table_index, hash);
	uint32_t i;

	while ((i = id_probe_next(&image->table_index, &probe)) != ID_NONE)
		if (image->tables[i]->offset == offset &&
		    same_shape(image->tables[i]->shape, shape))
			return image->tables[i];
	return NULL;
}

/* The table at offset, read at first use. NULL when it is damaged. */
static struct abbrev_table *get_table(struct image *image, uint64_t offset, struct unit_shape shape)
{
	uint64_t hash = hash_pair(offset, shape.offset_bytes);
	struct abbrev_table *table = find_table(image, hash, offset, shape);
	struct {
		struct abbrev_table **items;
		size_t count, capacity;
	} tables = {image->tables, image->table_count, image->table_capacity};
	int r;

	if (table)
		return table;
	if (abbrev_table_read(&image->sections[SECTION_ABBREV], offset, shape, 0,
			      &image->abbrev_budget, &table) < 0)
		return NULL;
	r = vec_push(&tables, table);
	image->tables = tables.items;
	image->table_capacity = tables.capacity;
	if (r < 0 || id_index_add(&image->table_index, hash, (uint32_t)image->table_count) < 0) {
		abbrev_table_free(table);
		return NULL;
	}
	image->table_count = tables.count;
	return table;
}

bool unit_open(struct unit *unit)
{
	if (unit->abbrevs)
		return true;
	if (!unit_prepare(unit))
		return false;
	unit->abbrevs =
		get_table(unit->image, unit->bases.abbrev + unit->abbrev_offset, unit->shape);
	unit->bad = !unit->abbrevs;
	return !unit->bad;
}
