/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/abbrev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/section.h"

#define MAX_ATTRIBUTES 1024
#define MAX_ABBREVS (1u << 20)
#define FIRST_BYTES 512

static void scope_release_table(struct abbrev_table **table)
{
	abbrev_table_free(*table);
}

void abbrev_table_free(struct abbrev_table *table)
{
	if (!table)
		return;
	free(table->items);
	free(table->attributes);
	free(table->skips);
	free(table);
}

static enum die_slot slot_of(uint64_t attribute)
{
	static const uint8_t slots[DW_AT_dwo_name + 1] = {
		[DW_AT_sibling] = SLOT_SIBLING,
		[DW_AT_name] = SLOT_NAME,
		[DW_AT_stmt_list] = SLOT_STMT_LIST,
		[DW_AT_low_pc] = SLOT_LOW_PC,
		[DW_AT_high_pc] = SLOT_HIGH_PC,
		[DW_AT_language] = SLOT_LANGUAGE,
		[DW_AT_comp_dir] = SLOT_COMP_DIR,
		[DW_AT_const_value] = SLOT_CONST_VALUE,
		[DW_AT_containing_type] = SLOT_CONTAINING_TYPE,
		[DW_AT_upper_bound] = SLOT_UPPER_BOUND,
		[DW_AT_abstract_origin] = SLOT_ABSTRACT_ORIGIN,
		[DW_AT_artificial] = SLOT_ARTIFICIAL,
		[DW_AT_count] = SLOT_COUNT_OF_ARRAY,
		[DW_AT_declaration] = SLOT_DECLARATION,
		[DW_AT_specification] = SLOT_SPECIFICATION,
		[DW_AT_type] = SLOT_TYPE,
		[DW_AT_ranges] = SLOT_RANGES,
		[DW_AT_call_column] = SLOT_CALL_COLUMN,
		[DW_AT_call_file] = SLOT_CALL_FILE,
		[DW_AT_call_line] = SLOT_CALL_LINE,
		[DW_AT_signature] = SLOT_SIGNATURE,
		[DW_AT_linkage_name] = SLOT_LINKAGE_NAME,
		[DW_AT_str_offsets_base] = SLOT_STR_OFFSETS_BASE,
		[DW_AT_addr_base] = SLOT_ADDR_BASE,
		[DW_AT_rnglists_base] = SLOT_RNGLISTS_BASE,
		[DW_AT_dwo_name] = SLOT_DWO_NAME,
	};

	switch (attribute) {
	case DW_AT_MIPS_linkage_name:
		return SLOT_LINKAGE_NAME;
	case DW_AT_GNU_dwo_name:
		return SLOT_DWO_NAME;
	case DW_AT_GNU_dwo_id:
		return SLOT_DWO_ID;
	case DW_AT_GNU_ranges_base:
		return SLOT_GNU_RANGES_BASE;
	case DW_AT_GNU_addr_base:
		return SLOT_ADDR_BASE;
	default:
		return attribute < ARRAY_SIZE(slots) ? slots[attribute] : SLOT_NONE;
	}
}

static enum abbrev_holds holds_of(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return HOLDS_FUNCTIONS;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return HOLDS_FUNCTIONS_OF_C;
	default:
		return HOLDS_NO_FUNCTIONS;
	}
}

int form_size(uint16_t form, struct unit_shape shape)
{
	static const int8_t sizes[] = {
		[DW_FORM_block2] = -1 - SKIP_BLOCK2,
		[DW_FORM_block4] = -1 - SKIP_BLOCK4,
		[DW_FORM_data2] = 2,
		[DW_FORM_data4] = 4,
		[DW_FORM_data8] = 8,
		[DW_FORM_string] = -1 - SKIP_TEXT,
		[DW_FORM_block] = -1 - SKIP_BLOCK,
		[DW_FORM_block1] = -1 - SKIP_BLOCK1,
		[DW_FORM_data1] = 1,
		[DW_FORM_flag] = 1,
		[DW_FORM_sdata] = -1 - SKIP_LEB,
		[DW_FORM_udata] = -1 - SKIP_LEB,
		[DW_FORM_ref1] = 1,
		[DW_FORM_ref2] = 2,
		[DW_FORM_ref4] = 4,
		[DW_FORM_ref8] = 8,
		[DW_FORM_ref_udata] = -1 - SKIP_LEB,
		[DW_FORM_indirect] = -1 - SKIP_INDIRECT,
		[DW_FORM_exprloc] = -1 - SKIP_BLOCK,
		[DW_FORM_flag_present] = 0,
		[DW_FORM_strx] = -1 - SKIP_LEB,
		[DW_FORM_addrx] = -1 - SKIP_LEB,
		[DW_FORM_ref_sup4] = 4,
		[DW_FORM_data16] = 16,
		[DW_FORM_ref_sig8] = 8,
		[DW_FORM_implicit_const] = 0,
		[DW_FORM_loclistx] = -1 - SKIP_LEB,
		[DW_FORM_rnglistx] = -1 - SKIP_LEB,
		[DW_FORM_ref_sup8] = 8,
		[DW_FORM_strx1] = 1,
		[DW_FORM_strx2] = 2,
		[DW_FORM_strx3] = 3,
		[DW_FORM_strx4] = 4,
		[DW_FORM_addrx1] = 1,
		[DW_FORM_addrx2] = 2,
		[DW_FORM_addrx3] = 3,
		[DW_FORM_addrx4] = 4,
	};

	switch (form) {
	case DW_FORM_addr:
		return shape.address_bytes;
	case DW_FORM_ref_addr:
		return shape.version <= 2 ? shape.address_bytes : shape.offset_bytes;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return shape.offset_bytes;
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return -1 - SKIP_LEB;
	default:
		return sizes[form];
	}
}

static bool form_is_known(uint64_t form)
{
	return (form >= DW_FORM_addr && form <= DW_FORM_addrx4 && form != 2) ||
	       form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index ||
	       form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt;
}

static int push_skip(struct abbrev_table *table, struct abbrev *abbrev, struct abbrev_skip skip)
{
	struct {
		struct abbrev_skip *items;
		size_t count, capacity;
	} skips = {table->skips, table->skip_count, table->skip_capacity};
	int r = vec_push(&skips, skip);

	table->skips = skips.items;
	table->skip_count = skips.count;
	table->skip_capacity = skips.capacity;
	abbrev->skip_count += r == 0;
	return r;
}

/* Adds the skip of an attribute; starts a new run at DW_AT_sibling. */
static int add_skip(struct abbrev_table *table, struct abbrev *abbrev,
		    const struct abbrev_attribute *attribute)
{
	int size = attribute->size;
	struct abbrev_skip *last =
		abbrev->skip_count > 0 ? &table->skips[table->skip_count - 1] : NULL;
	bool sibling = attribute->slot == SLOT_SIBLING && attribute->form == DW_FORM_ref4;

	if (sibling) {
		abbrev->sibling_skips = abbrev->skip_count;
		abbrev->sibling_bytes = abbrev->fixed_bytes;
	}
	if (size < 0) {
		abbrev->fixed_bytes = ABBREV_NOT_FIXED;
		return push_skip(table, abbrev, (struct abbrev_skip){(uint8_t)(-1 - size), 0});
	}
	if (abbrev->fixed_bytes != ABBREV_NOT_FIXED)
		abbrev->fixed_bytes += (uint32_t)size;
	if (size == 0)
		return 0;
	if (!sibling && last && last->kind == SKIP_BYTES) {
		last->bytes = (uint16_t)(last->bytes + size);
		return 0;
	}
	return push_skip(table, abbrev, (struct abbrev_skip){SKIP_BYTES, (uint16_t)size});
}

static int add_attribute(struct abbrev_table *table, struct abbrev *abbrev,
			 struct abbrev_attribute attribute)
{
	struct {
		struct abbrev_attribute *items;
		size_t count, capacity;
	} attributes = {table->attributes, table->attribute_count, table->attribute_capacity};
	int r = vec_push(&attributes, attribute);

	table->attributes = attributes.items;
	table->attribute_count = attributes.count;
	table->attribute_capacity = attributes.capacity;
	if (r < 0)
		return r;
	abbrev->attribute_count++;
	if (attribute.slot == SLOT_LOW_PC || attribute.slot == SLOT_RANGES)
		abbrev->has_code = true;
	return add_skip(table, abbrev, &attribute);
}

/* Reads the attributes of one abbreviation. *place is set to their end. */
static int read_attributes(struct abbrev_table *table, struct abbrev *abbrev, const uint8_t **place,
			   const uint8_t *end)
{
	const uint8_t *at = *place;

	for (size_t i = 0; i <= MAX_ATTRIBUTES; i++) {
		struct abbrev_attribute attribute = {0};
		uint64_t name = 0, form = 0;

		at = leb_read(at, end, &name);
		at = at ? leb_read(at, end, &form) : NULL;
		if (at && form == DW_FORM_implicit_const)
			at = leb_read_signed(at, end, &attribute.constant);
		if (!at)
			return -EBADMSG;
		if (name == 0 && form == 0) {
			*place = at;
			return 0;
		}
		if (!form_is_known(form))
			return -ENOTSUP;
		attribute.form = (uint16_t)form;
		attribute.slot = (uint8_t)slot_of(name);
		attribute.size = (int16_t)form_size(attribute.form, table->shape);
		if (add_attribute(table, abbrev, attribute) < 0)
			return -ENOMEM;
	}
	return -E2BIG;
}

static int add_abbrev(struct abbrev_table *table, const struct abbrev *abbrev)
{
	struct {
		struct abbrev *items;
		size_t count, capacity;
	} items = {table->items, table->count, table->item_capacity};
	int r = vec_push(&items, *abbrev);

	table->items = items.items;
	table->count = items.count;
	table->item_capacity = items.capacity;
	return r;
}

static int compare_codes(const void *a, const void *b)
{
	const struct abbrev *left = a, *right = b;

	return (left->code > right->code) - (left->code < right->code);
}

/* Reads one abbreviation. 0 at the end of the table, 1 when there may be more. */
static int read_abbrev(struct abbrev_table *table, const uint8_t **place, const uint8_t *end,
		       bool keep_all, uint64_t only_code)
{
	struct abbrev abbrev = {.sibling_skips = ABBREV_NO_SIBLING,
				.sibling_bytes = ABBREV_NOT_FIXED,
				.first_attribute = (uint32_t)table->attribute_count,
				.first_skip = (uint32_t)table->skip_count};
	const uint8_t *at = *place;
	uint64_t tag = 0;
	int r;

	if (at == end)
		return 0; /* a table may end with its section */
	at = leb_read(at, end, &abbrev.code);
	if (at && abbrev.code == 0)
		return 0;
	at = at ? leb_read(at, end, &tag) : NULL;
	if (!at || at == end || table->count >= MAX_ABBREVS)
		return -EBADMSG;
	abbrev.tag = tag > UINT32_MAX ? 0 : (uint32_t)tag;
	abbrev.holds = (uint8_t)holds_of(abbrev.tag);
	abbrev.has_children = *at++ != 0;
	r = read_attributes(table, &abbrev, &at, end);
	if (r < 0)
		return r;
	*place = at;
	if (!keep_all && abbrev.code != only_code)
		return 1;
	r = add_abbrev(table, &abbrev);
	if (r < 0)
		return r;
	return keep_all;
}

static void finish_table(struct abbrev_table *table)
{
	table->dense = true;
	for (size_t i = 0; i < table->count; i++)
		table->dense = table->dense && table->items[i].code == i + 1;
	if (!table->dense)
		qsort(table->items, table->count, sizeof(*table->items), compare_codes);
}

/* Reads n bytes of the section at the table's offset. */
static int read_table(struct abbrev_table *table, struct section *section, uint64_t n,
		      uint64_t only_code, uint64_t *budget)
{
	const uint8_t *start = section_at(section, table->offset, n);
	const uint8_t *at = start, *end = start ? start + n : NULL;
	uint64_t used;
	int r;

	if (!at)
		return -EBADMSG;
	table->count = table->attribute_count = table->skip_count = 0;
	do {
		r = read_abbrev(table, &at, end, only_code == 0, only_code);
		used = (uint64_t)(at - start);
	} while (r > 0 && used < *budget);
	*budget -= used < *budget ? used : *budget;
	return r > 0 ? -E2BIG : r;
}

int abbrev_table_read(struct section *section, uint64_t offset, struct unit_shape shape,
		      uint64_t only_code, uint64_t *budget, struct abbrev_table **ret)
{
	SCOPED(table) struct abbrev_table *table = calloc(1, sizeof(*table));
	uint64_t size = section_size(section);
	int r = -EBADMSG;

	if (!table)
		return -ENOMEM;
	if (offset >= size)
		return -EBADMSG;
	table->offset = offset;
	table->shape = shape;
	/* The layout of a unit's first entry is mostly at the start. */
	if (only_code && size - offset > FIRST_BYTES)
		r = read_table(table, section, FIRST_BYTES, only_code, budget);
	if (r < 0 || table->count == 0)
		r = read_table(table, section, size - offset, only_code, budget);
	if (r < 0)
		return r;
	finish_table(table);
	*ret = scope_take(&table);
	return 0;
}

const struct abbrev *abbrev_find_sparse(const struct abbrev_table *table, uint64_t code)
{
	struct abbrev key = {.code = code};

	if (table->count == 0)
		return NULL;
	return bsearch(&key, table->items, table->count, sizeof(key), compare_codes);
}

static const uint8_t *skip_one(enum abbrev_skip_kind kind, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *nul;
	uint64_t n = 0;

	switch (kind) {
	case SKIP_LEB:
		return leb_skip(at, end);
	case SKIP_TEXT:
		nul = memchr(at, 0, (size_t)(end - at));
		return nul ? nul + 1 : NULL;
	case SKIP_BLOCK1:
		at = fixed_read(at, end, 1, &n);
		return bytes_skip(at, end, n);
	case SKIP_BLOCK2:
		at = fixed_read(at, end, 2, &n);
		return bytes_skip(at, end, n);
	case SKIP_BLOCK4:
		at = fixed_read(at, end, 4, &n);
		return bytes_skip(at, end, n);
	case SKIP_BLOCK:
		at = leb_read(at, end, &n);
		return bytes_skip(at, end, n);
	case SKIP_BYTES:
	case SKIP_INDIRECT:
	default:
		return NULL;
	}
}

const uint8_t *form_skip(uint16_t form, struct unit_shape shape, const uint8_t *at,
			 const uint8_t *end)
{
	uint64_t real = 0;
	int size;

	if (form == DW_FORM_indirect) { /* once: a second indirection is refused */
		at = leb_read(at, end, &real);
		if (!at || !form_is_known(real) || real == DW_FORM_indirect ||
		    real == DW_FORM_implicit_const)
			return NULL;
		form = (uint16_t)real;
	}
	size = form_size(form, shape);
	return size >= 0 ? bytes_skip(at, end, (uint64_t)size)
			 : skip_one((enum abbrev_skip_kind)(-1 - size), at, end);
}

const uint8_t *abbrev_skip_some(const struct abbrev_table *table, const struct abbrev *abbrev,
				size_t count, const uint8_t *at, const uint8_t *end)
{
	const struct abbrev_skip *skip = &table->skips[abbrev->first_skip];

	for (const struct abbrev_skip *last = skip + count; skip < last && at; skip++) {
		if (skip->kind == SKIP_BYTES)
			at = bytes_skip(at, end, skip->bytes);
		else if (skip->kind == SKIP_LEB)
			at = leb_skip(at, end);
		else if (skip->kind == SKIP_INDIRECT)
			at = form_skip(DW_FORM_indirect, table->shape, at, end);
		else
			at = skip_one((enum abbrev_skip_kind)skip->kind, at, end);
	}
	return at;
}
