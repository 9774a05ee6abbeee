/* SPDX-License-Identifier: BSD-2-Clause */

/* types: names of types and signatures of functions; declared in names.h. */

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "dwarf/constants.h"
#include "dwarf/names.h"

#define MAX_PARAMETERS 256

static void put_text(struct bytes *out, const char *text)
{
	bytes_put(out, text, strlen(text));
}

/* What is written after the type that an entry is derived from; NULL for other entries. */
static const char *suffix_of(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "*";
	case DW_TAG_reference_type:
		return "&";
	case DW_TAG_rvalue_reference_type:
		return "&&";
	case DW_TAG_const_type:
		return " const";
	case DW_TAG_volatile_type:
		return " volatile";
	case DW_TAG_restrict_type:
		return " restrict";
	case DW_TAG_atomic_type:
		return " _Atomic";
	default:
		return NULL;
	}
}

/* The types of the parameters of the entry at ref, in parentheses. */
static void put_parameters(struct bytes *out, struct die_ref ref, size_t depth)
{
	SCOPED(mem) struct die *die = malloc(sizeof(*die));
	size_t count = 0;
	uint64_t at;

	bytes_put_u8(out, '(');
	if (die && die_read(ref.unit, ref.offset, die) && die->abbrev->has_children) {
		for (at = die->next; die_read(ref.unit, at, die) && !die->abbrev->has_children &&
				     count < MAX_PARAMETERS;
		     at = die->next) {
			uint32_t tag = die->abbrev->tag;

			if ((tag != DW_TAG_formal_parameter &&
			     tag != DW_TAG_unspecified_parameters) ||
			    die_has(die, SLOT_ARTIFICIAL))
				continue;
			if (count++)
				put_text(out, ", ");
			if (tag == DW_TAG_formal_parameter)
				names_put_type(out, die, SLOT_TYPE, depth + 1);
			else
				put_text(out, "...");
		}
	}
	bytes_put_u8(out, ')');
}

/* "[3][4]": the dimensions of an array. */
static void put_dimensions(struct bytes *out, struct die_ref ref)
{
	SCOPED(mem) struct die *die = malloc(sizeof(*die));
	uint64_t at, number;

	if (!die || !die_read(ref.unit, ref.offset, die) || !die->abbrev->has_children)
		return;
	for (at = die->next; die_read(ref.unit, at, die) && !die->abbrev->has_children;
	     at = die->next) {
		if (die->abbrev->tag != DW_TAG_subrange_type || out->size > NAMES_MAX_BYTES)
			continue;
		if (die_number(die, SLOT_COUNT_OF_ARRAY, &number))
			bytes_printf(out, "[%llu]", (unsigned long long)number);
		else if (die_number(die, SLOT_UPPER_BOUND, &number))
			bytes_printf(out, "[%llu]", (unsigned long long)number + 1);
		else
			put_text(out, "[]");
	}
}

static void put_entry(struct bytes *out, struct die_ref ref, const struct die *die, size_t depth)
{
	const char *suffix = suffix_of(die->abbrev->tag);

	if (suffix) {
		names_put_type(out, die, SLOT_TYPE, depth + 1);
		put_text(out, suffix);
		return;
	}
	switch (die->abbrev->tag) {
	case DW_TAG_array_type:
		names_put_type(out, die, SLOT_TYPE, depth + 1);
		put_dimensions(out, ref);
		break;
	case DW_TAG_subroutine_type:
		names_put_type(out, die, SLOT_TYPE, depth + 1);
		bytes_put_u8(out, ' ');
		put_parameters(out, ref, depth + 1);
		break;
	case DW_TAG_ptr_to_member_type:
		names_put_type(out, die, SLOT_TYPE, depth + 1);
		bytes_put_u8(out, ' ');
		names_put_type(out, die, SLOT_CONTAINING_TYPE, depth + 1);
		put_text(out, "::*");
		break;
	default:
		names_put_qualified(out, ref, depth + 1);
		break;
	}
}

void names_put_type(struct bytes *out, const struct die *die, enum die_slot slot, size_t depth)
{
	struct die_ref ref = die_reference(die, slot);
	SCOPED(mem) struct die *type = malloc(sizeof(*type));

	if (depth > NAMES_MAX_DEPTH || out->size > NAMES_MAX_BYTES || !type)
		put_text(out, "…");
	else if (!die_has(die, slot))
		put_text(out, "void");
	else if (!ref.unit || !die_read(ref.unit, ref.offset, type))
		put_text(out, "?");
	else
		put_entry(out, ref, type, depth);
}

/* The return type, from the first entry along the chain that has one; else from the last entry. */
static void put_return_type(struct bytes *out, struct die_ref ref, struct die *die)
{
	for (size_t i = 0; i < NAMES_MAX_HOPS && ref.unit; i++) {
		struct die_ref next;

		if (!die_read(ref.unit, ref.offset, die))
			return;
		next = die_reference(die, SLOT_ABSTRACT_ORIGIN);
		if (!next.unit)
			next = die_reference(die, SLOT_SPECIFICATION);
		if (die_has(die, SLOT_TYPE) || !next.unit) {
			names_put_type(out, die, SLOT_TYPE, 0);
			bytes_put_u8(out, ' ');
			return;
		}
		ref = next;
	}
}

void names_put_signature(struct bytes *out, struct die_ref ref)
{
	SCOPED(mem) struct die *die = malloc(sizeof(*die));
	struct die_ref next = ref;

	if (!die)
		return;
	put_return_type(out, ref, die);
	names_put_qualified(out, ref, 0);
	/* Parameters of an inlined or cloned function may be missing: the origin has them all. */
	for (size_t i = 0; i < NAMES_MAX_HOPS && next.unit; i++) {
		ref = next;
		if (!die_read(ref.unit, ref.offset, die))
			break;
		next = die_reference(die, SLOT_ABSTRACT_ORIGIN);
	}
	put_parameters(out, ref, 0);
}
