/* SPDX-License-Identifier: BSD-2-Clause */

/* die: entries of units and the meaning of their attributes; declared in unit.h. */

#include <string.h>

#include "base/leb.h"
#include "dwarf/constants.h"
#include "dwarf/unit.h"

/* Most entries are far smaller; those with long inline text are read again. */
#define FIRST_BYTES 1024

static const uint8_t *read_block(uint16_t form, const uint8_t *at, const uint8_t *end,
				 struct value *ret)
{
	switch (form) {
	case DW_FORM_block1:
		at = fixed_read(at, end, 1, &ret->number);
		break;
	case DW_FORM_block2:
		at = fixed_read(at, end, 2, &ret->number);
		break;
	case DW_FORM_block4:
		at = fixed_read(at, end, 4, &ret->number);
		break;
	default:
		at = leb_read(at, end, &ret->number);
		break;
	}
	ret->bytes = at;
	return bytes_skip(at, end, ret->number);
}

static const uint8_t *read_unsized(enum abbrev_skip_kind kind, const uint8_t *at,
				   const uint8_t *end, struct value *ret)
{
	const uint8_t *nul;
	int64_t number = 0;

	if (kind == SKIP_TEXT) {
		ret->bytes = at;
		nul = memchr(at, 0, (size_t)(end - at));
		return nul ? nul + 1 : NULL;
	}
	if (kind != SKIP_LEB)
		return read_block(ret->form, at, end, ret);
	if (ret->form != DW_FORM_sdata)
		return leb_read(at, end, &ret->number);
	at = leb_read_signed(at, end, &number);
	ret->number = (uint64_t)number;
	return at;
}

const uint8_t *value_read(struct unit_shape shape, const struct abbrev_attribute *attribute,
			  const uint8_t *at, const uint8_t *end, struct value *ret)
{
	uint64_t real = attribute->form;
	int size;

	if (real == DW_FORM_implicit_const) {
		*ret = (struct value){(uint64_t)attribute->constant, NULL, DW_FORM_sdata};
		return at;
	}
	if (real == DW_FORM_indirect) {
		/* Only known forms, and no second indirection: form_skip() checks both. */
		if (!form_skip(DW_FORM_indirect, shape, at, end))
			return NULL;
		at = leb_read(at, end, &real);
	}
	*ret = (struct value){.form = (uint16_t)real, .number = 1};
	size = real == attribute->form ? attribute->size : form_size((uint16_t)real, shape);
	if (size < 0)
		return read_unsized((enum abbrev_skip_kind)(-1 - size), at, end, ret);
	if (size > 8)
		return bytes_skip(at, end, (uint64_t)size);
	if (size == 0)
		return at; /* a flag that is set by its presence */
	return fixed_read(at, end, (size_t)size, &ret->number);
}

const uint8_t *die_read_at(struct unit *unit, const struct abbrev *abbrev, const uint8_t *at,
			   const uint8_t *end, struct die *ret)
{
	const struct abbrev_attribute *attribute =
		&unit->abbrevs->attributes[abbrev->first_attribute];

	ret->unit = unit;
	ret->abbrev = abbrev;
	ret->present = 0;
	for (size_t i = 0; i < abbrev->attribute_count; i++, attribute++) {
		struct value *value = &ret->values[attribute->slot];

		if (attribute->size > 0 && attribute->size <= 8) {
			value->form = attribute->form;
			at = fixed_read(at, end, (size_t)attribute->size, &value->number);
		} else if (attribute->slot == SLOT_NONE) {
			at = form_skip(attribute->form, unit->shape, at, end);
		} else {
			at = value_read(unit->shape, attribute, at, end, value);
		}
		ret->present |= 1u << attribute->slot;
		if (!at)
			return NULL;
	}
	return at;
}

static bool read_with(struct unit *unit, uint64_t offset, uint64_t n, struct die *ret)
{
	const uint8_t *start = unit_bytes(unit, offset, n);
	const struct abbrev *abbrev;
	const uint8_t *at;
	uint64_t code = 0;

	if (!start)
		return false;
	at = leb_read(start, start + n, &code);
	abbrev = at && code ? abbrev_find(unit->abbrevs, code) : NULL;
	if (!abbrev)
		return false;
	ret->offset = offset;
	at = die_read_at(unit, abbrev, at, start + n, ret);
	if (!at)
		return false;
	ret->next = offset + (uint64_t)(at - start);
	return true;
}

bool die_read(struct unit *unit, uint64_t offset, struct die *ret)
{
	uint64_t left;

	if (!unit_open(unit) || offset < unit->first || offset >= unit->end)
		return false;
	left = unit->end - offset;
	if (left > FIRST_BYTES && read_with(unit, offset, FIRST_BYTES, ret))
		return true;
	return read_with(unit, offset, left, ret);
}

/* The unit that has the addresses: a split unit's skeleton. */
static const struct unit *address_unit(const struct unit *unit)
{
	return unit->skeleton ? unit->skeleton : unit;
}

bool unit_indexed_address(const struct unit *unit, uint64_t i, uint64_t *ret)
{
	const struct unit *owner = address_unit(unit);
	size_t n = owner->shape.address_bytes;
	const uint8_t *at;

	if (i > UINT64_MAX / 16 || owner->addr_base > UINT64_MAX / 2)
		return false;
	at = section_at(&owner->image->sections[SECTION_ADDR], owner->addr_base + i * n, n);
	return at && fixed_read(at, at + n, n, ret);
}

bool die_address(const struct die *die, enum die_slot slot, uint64_t *ret)
{
	const struct value *value = &die->values[slot];

	if (!die_has(die, slot))
		return false;
	switch (value->form) {
	case DW_FORM_addr:
		*ret = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return unit_indexed_address(die->unit, value->number, ret);
	default:
		return false;
	}
}

bool die_number(const struct die *die, enum die_slot slot, uint64_t *ret)
{
	const struct value *value = &die->values[slot];

	if (!die_has(die, slot))
		return false;
	switch (value->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_flag:
	case DW_FORM_flag_present:
	case DW_FORM_sec_offset:
	case DW_FORM_rnglistx:
		*ret = value->number;
		return true;
	default:
		return false;
	}
}

static const char *indexed_text(const struct unit *unit, uint64_t i)
{
	size_t n = unit->shape.offset_bytes;
	struct section *sections = unit->image->sections;
	uint64_t offset = 0;
	const uint8_t *at;

	if (i > UINT64_MAX / 16 || unit->str_offsets_base > UINT64_MAX / 2)
		return NULL;
	at = section_at(&sections[SECTION_STR_OFFSETS], unit->str_offsets_base + i * n, n);
	if (!at || !fixed_read(at, at + n, n, &offset))
		return NULL;
	return section_text(&sections[SECTION_STR], offset);
}

const char *value_text(const struct unit *unit, const struct value *value)
{
	struct image *image = unit->image;

	switch (value->form) {
	case DW_FORM_string:
		return (const char *)value->bytes; /* its end was checked when it was read */
	case DW_FORM_strp:
		return section_text(&image->sections[SECTION_STR], value->number);
	case DW_FORM_line_strp:
		return section_text(&image->sections[SECTION_LINE_STR], value->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return image->alt ? section_text(&image->alt->sections[SECTION_STR], value->number)
				  : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_text(unit, value->number);
	default:
		return NULL;
	}
}

const char *die_text(const struct die *die, enum die_slot slot)
{
	return die_has(die, slot) ? value_text(die->unit, &die->values[slot]) : NULL;
}

static struct die_ref reference_to(struct image *image, uint64_t offset)
{
	struct unit *unit = image ? image_find_unit(image, offset) : NULL;

	return (struct die_ref){unit, offset};
}

struct die_ref die_reference(const struct die *die, enum die_slot slot)
{
	const struct value *value = &die->values[slot];
	struct unit *unit = die->unit;

	if (!die_has(die, slot))
		return (struct die_ref){0};
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (value->number >= unit->end - unit->start)
			return (struct die_ref){0};
		return (struct die_ref){unit, unit->start + value->number};
	case DW_FORM_ref_addr:
		return reference_to(unit->image, value->number);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return reference_to(unit->image->alt, value->number);
	case DW_FORM_ref_sig8:
		unit = image_find_type(unit->image, value->number);
		if (!unit || unit->type_offset >= unit->end - unit->start)
			return (struct die_ref){0};
		return (struct die_ref){unit, unit->start + unit->type_offset};
	default:
		return (struct die_ref){0};
	}
}
