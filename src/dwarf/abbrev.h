/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_ABBREV_H
#define WICK_DWARF_ABBREV_H

/*
 * abbrev: the layouts of a unit's entries. A table is read once for each offset (and shape of unit)
 * and shared by the units that refer to it.
 *
 * Most entries are only skipped. For that, each abbreviation has a short list of skips: consecutive
 * attributes of fixed size are one skip.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section;

/* Attributes that are read; the others are skipped. */
enum die_slot {
	SLOT_NONE,
	SLOT_NAME,
	SLOT_LINKAGE_NAME,
	SLOT_LOW_PC,
	SLOT_HIGH_PC,
	SLOT_RANGES,
	SLOT_ABSTRACT_ORIGIN,
	SLOT_SPECIFICATION,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_CALL_COLUMN,
	SLOT_TYPE,
	SLOT_SIGNATURE,
	SLOT_SIBLING,
	SLOT_DECLARATION,
	SLOT_STMT_LIST,
	SLOT_COMP_DIR,
	SLOT_LANGUAGE,
	SLOT_STR_OFFSETS_BASE,
	SLOT_ADDR_BASE,
	SLOT_RNGLISTS_BASE,
	SLOT_GNU_RANGES_BASE,
	SLOT_DWO_NAME,
	SLOT_DWO_ID,
	SLOT_CONST_VALUE,
	SLOT_CONTAINING_TYPE,
	SLOT_ARTIFICIAL,
	SLOT_COUNT_OF_ARRAY,
	SLOT_UPPER_BOUND,
	SLOTS,
};

struct abbrev_attribute {
	uint16_t form;
	uint8_t slot;
	int16_t size;     /* as form_size() */
	int64_t constant; /* of DW_FORM_implicit_const */
};

enum abbrev_skip_kind {
	SKIP_BYTES,
	SKIP_LEB,
	SKIP_TEXT,
	SKIP_BLOCK1,
	SKIP_BLOCK2,
	SKIP_BLOCK4,
	SKIP_BLOCK,
	SKIP_INDIRECT,
};

struct abbrev_skip {
	uint8_t kind;
	uint16_t bytes;
};

#define ABBREV_NO_SIBLING UINT16_MAX
#define ABBREV_NOT_FIXED UINT32_MAX

/* Whether an entry may contain functions with code. */
enum abbrev_holds {
	HOLDS_NO_FUNCTIONS,
	HOLDS_FUNCTIONS_OF_C, /* not in C++, where compilers put them into units and namespaces */
	HOLDS_FUNCTIONS,
};

struct abbrev {
	uint64_t code;
	uint32_t tag;
	bool has_children;
	bool has_code;          /* has an address or ranges */
	uint16_t sibling_skips; /* skips before DW_AT_sibling, a ref4; ABBREV_NO_SIBLING */
	uint16_t attribute_count;
	uint16_t skip_count;
	uint8_t holds;          /* enum abbrev_holds */
	uint32_t fixed_bytes;   /* size of all attributes, or ABBREV_NOT_FIXED */
	uint32_t sibling_bytes; /* size of those before DW_AT_sibling, or ABBREV_NOT_FIXED */
	uint32_t first_attribute;
	uint32_t first_skip;
};

/* What the size of a form depends on besides the form. */
struct unit_shape {
	uint8_t version;
	uint8_t address_bytes;
	uint8_t offset_bytes; /* 4 or 8 */
};

struct abbrev_table {
	uint64_t offset;
	struct unit_shape shape;
	bool dense; /* item i has code i + 1 */
	struct abbrev *items;
	size_t count, item_capacity;
	struct abbrev_attribute *attributes;
	size_t attribute_count, attribute_capacity;
	struct abbrev_skip *skips;
	size_t skip_count, skip_capacity;
};

/*
 * Reads the table at offset, or only as much of it as defines only_code (0: all). Subtracts the
 * bytes read from *budget; -E2BIG when it is used up.
 */
int abbrev_table_read(struct section *section, uint64_t offset, struct unit_shape shape,
		      uint64_t only_code, uint64_t *budget, struct abbrev_table **ret);
void abbrev_table_free(struct abbrev_table *table); /* NULL is fine */

/* NULL when the table has no such code. */
const struct abbrev *abbrev_find_sparse(const struct abbrev_table *table, uint64_t code);

static inline const struct abbrev *abbrev_find(const struct abbrev_table *table, uint64_t code)
{
	if (table->dense)
		return code - 1 < table->count ? &table->items[code - 1] : NULL;
	return abbrev_find_sparse(table, code);
}

/* The size of a form, or -1 - the kind of skip it needs. */
int form_size(uint16_t form, struct unit_shape shape);

/*
 * Skips count attributes: abbrev_skip() for all of them. NULL when the entry does not end before
 * end.
 */
const uint8_t *abbrev_skip_some(const struct abbrev_table *table, const struct abbrev *abbrev,
				size_t count, const uint8_t *at, const uint8_t *end);

static inline const uint8_t *abbrev_skip(const struct abbrev_table *table,
					 const struct abbrev *abbrev, const uint8_t *at,
					 const uint8_t *end)
{
	if (abbrev->fixed_bytes <= (size_t)(end - at))
		return at + abbrev->fixed_bytes;
	return abbrev_skip_some(table, abbrev, abbrev->skip_count, at, end);
}

/* Skips one attribute. NULL when it does not end before end. */
const uint8_t *form_skip(uint16_t form, struct unit_shape shape, const uint8_t *at,
			 const uint8_t *end);

#endif
