/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_UNIT_DWARF_BUILDER_H
#define WICK_TESTS_UNIT_DWARF_BUILDER_H

/*
 * dwarf_builder: small DWARF 5 units for tests. Abbreviations are fixed and known by
 * the names below; entries are written in order, END closes the children of one.
 */

#include <string.h>

#include "base/bytes.h"
#include "dwarf/constants.h"
#include "elf_builder.h"

enum {
	DIE_UNIT = 1,  /* name, language, low, size; has children */
	DIE_FUNCTION,  /* name, low, size; has children */
	DIE_ABSTRACT,  /* name */
	DIE_NAMESPACE, /* name; has children */
	DIE_INLINED,   /* origin, low, size, line; has children */
	DIE_CLONE,     /* origin, low, size */
	DIE_LINKED,    /* name, linkage name */
	DIE_TEMPLATE,  /* name; has children */
	DIE_ARGUMENT,  /* type */
	DIE_TYPE,      /* name */
	DIE_END = 0,
};

struct dwarf_builder {
	struct bytes abbrev, info, line;
	size_t unit; /* where the last unit began */
};

static inline void abbrev_put(struct bytes *out, uint8_t code, uint8_t tag, uint8_t children,
			      const uint8_t *pairs, size_t count)
{
	bytes_put_u8(out, code);
	bytes_put_u8(out, tag);
	bytes_put_u8(out, children);
	bytes_put(out, pairs, count);
	bytes_put_u16(out, 0);
}

#define ABBREV(out, code, tag, children, ...)                                                      \
	abbrev_put(out, code, tag, children, (const uint8_t[]){__VA_ARGS__},                       \
		   sizeof((const uint8_t[]){__VA_ARGS__}))

static inline void dwarf_builder_init(struct dwarf_builder *b)
{
	struct bytes *out = &b->abbrev;

	memset(b, 0, sizeof(*b));
	ABBREV(out, DIE_UNIT, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, DW_AT_language,
	       DW_FORM_data1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4,
	       DW_AT_stmt_list, DW_FORM_sec_offset);
	ABBREV(out, DIE_FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
	       DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4);
	ABBREV(out, DIE_ABSTRACT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string);
	ABBREV(out, DIE_NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string);
	ABBREV(out, DIE_INLINED, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4,
	       DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_call_line,
	       DW_FORM_data1);
	ABBREV(out, DIE_CLONE, DW_TAG_subprogram, 0, DW_AT_abstract_origin, DW_FORM_ref4,
	       DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4);
	ABBREV(out, DIE_LINKED, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string,
	       DW_AT_linkage_name, DW_FORM_string);
	ABBREV(out, DIE_TEMPLATE, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string);
	ABBREV(out, DIE_ARGUMENT, DW_TAG_template_type_parameter, 0, DW_AT_type, DW_FORM_ref4);
	ABBREV(out, DIE_TYPE, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_string);
	bytes_put_u8(out, 0);
}

static inline void dwarf_builder_fini(struct dwarf_builder *b)
{
	bytes_fini(&b->abbrev);
	bytes_fini(&b->info);
	bytes_fini(&b->line);
}

/* Distance of the next entry from the start of the unit: what references hold. */
static inline uint32_t die_next(const struct dwarf_builder *b)
{
	return (uint32_t)(b->info.size - b->unit);
}

static inline void put_text(struct bytes *out, const char *text)
{
	bytes_put(out, text, strlen(text) + 1);
}

static inline void die_code(struct dwarf_builder *b, uint8_t code)
{
	bytes_put_u8(&b->info, code);
}

static inline void unit_begin(struct dwarf_builder *b, const char *name, uint64_t low,
			      uint32_t size)
{
	b->unit = b->info.size;
	bytes_put_u32(&b->info, 0); /* length: unit_end() */
	bytes_put_u16(&b->info, 5);
	bytes_put_u8(&b->info, DW_UT_compile);
	bytes_put_u8(&b->info, 8);
	bytes_put_u32(&b->info, 0);
	die_code(b, DIE_UNIT);
	put_text(&b->info, name);
	bytes_put_u8(&b->info, DW_LANG_C_plus_plus_11);
	bytes_put_u64(&b->info, low);
	bytes_put_u32(&b->info, size);
	bytes_put_u32(&b->info, 0);
}

static inline void unit_end(struct dwarf_builder *b)
{
	uint32_t length;

	die_code(b, DIE_END);
	length = (uint32_t)(b->info.size - b->unit - 4);
	memcpy(b->info.data + b->unit, &length, sizeof(length));
}

/* Writes a named entry. Returns what references to it hold. */
static inline uint32_t die_named(struct dwarf_builder *b, uint8_t code, const char *name)
{
	uint32_t at = die_next(b);

	die_code(b, code);
	put_text(&b->info, name);
	return at;
}

static inline uint32_t die_function(struct dwarf_builder *b, const char *name, uint64_t low,
				    uint32_t size)
{
	uint32_t at = die_named(b, DIE_FUNCTION, name);

	bytes_put_u64(&b->info, low);
	bytes_put_u32(&b->info, size);
	return at;
}

/* DIE_CLONE, and DIE_INLINED but for its line. */
static inline uint32_t die_copy(struct dwarf_builder *b, uint8_t code, uint32_t origin,
				uint64_t low, uint32_t size)
{
	uint32_t at = die_next(b);

	die_code(b, code);
	bytes_put_u32(&b->info, origin);
	bytes_put_u64(&b->info, low);
	bytes_put_u32(&b->info, size);
	return at;
}

static inline uint32_t die_inlined(struct dwarf_builder *b, uint32_t origin, uint64_t low,
				   uint32_t size, uint8_t line)
{
	uint32_t at = die_copy(b, DIE_INLINED, origin, low, size);

	bytes_put_u8(&b->info, line);
	return at;
}

static inline void dwarf_builder_image(struct dwarf_builder *b, struct elf_builder *elf)
{
	builder_init(elf, ET_DYN);
	builder_section(elf, ".debug_abbrev", SHT_PROGBITS, b->abbrev.data, b->abbrev.size);
	if (b->info.size > 0)
		builder_section(elf, ".debug_info", SHT_PROGBITS, b->info.data, b->info.size);
	if (b->line.size > 0)
		builder_section(elf, ".debug_line", SHT_PROGBITS, b->line.data, b->line.size);
	builder_finish(elf);
}

#endif
