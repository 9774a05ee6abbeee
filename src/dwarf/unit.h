/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_UNIT_H
#define WICK_DWARF_UNIT_H

/*
 * unit: the debug sections of one ELF file (an image), its units, and the entries (DIEs) of a unit
 * with their attributes.
 *
 * Offsets of entries are relative to the section of the unit. No offset is trusted: each is checked
 * against the unit before anything is read there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "dwarf/abbrev.h"
#include "dwarf/section.h"

struct elf_file;
struct unit;
struct scope_tree;
struct unit_tables;

enum section_id {
	SECTION_INFO,
	SECTION_TYPES,
	SECTION_ABBREV,
	SECTION_STR,
	SECTION_LINE,
	SECTION_LINE_STR,
	SECTION_RANGES,
	SECTION_RNGLISTS,
	SECTION_ADDR,
	SECTION_STR_OFFSETS,
	SECTION_CU_INDEX,
	SECTION_TU_INDEX,
	SECTIONS,
};

/* Where a unit's part of a section begins: 0 except in .dwp files. */
struct unit_bases {
	uint64_t abbrev;
	uint64_t line;
	uint64_t str_offsets;
	uint64_t rnglists;
};

struct signature {
	uint64_t signature;
	struct unit *unit;
};

struct image {
	struct elf_file *elf; /* owned */
	bool split;           /* a .dwo or .dwp file */
	struct image *alt;    /* dwz's common file; NULL: none, or not opened yet */
	struct section sections[SECTIONS];
	struct unit **units; /* by section, then by offset */
	size_t unit_count, unit_capacity;
	size_t types_at;              /* index of the first unit of .debug_types */
	struct signature *signatures; /* type units, sorted */
	size_t signature_count, signature_capacity;
	uint64_t abbrev_budget; /* bytes of abbreviations that may still be read */
	struct abbrev_table **tables;
	size_t table_count, table_capacity;
	struct id_index table_index; /* by offset and shape */
};

struct value {
	uint64_t number;
	const uint8_t *bytes; /* of inline text and blocks */
	uint16_t form;
};

struct unit {
	struct image *image;
	enum section_id section; /* SECTION_INFO or SECTION_TYPES */
	uint64_t start;          /* of the header */
	uint64_t first;          /* the root entry */
	uint64_t end;
	struct unit_shape shape;
	uint8_t kind; /* DW_UT_* */
	bool prepared, bad;
	uint64_t abbrev_offset;
	uint64_t signature; /* of a type unit; DWARF 5: of a split unit */
	uint64_t type_offset;
	struct unit_bases bases;
	struct abbrev_table *abbrevs; /* owned by the image; NULL before unit_open() */

	/* From the root entry, once prepared. */
	uint32_t tag;
	uint32_t language;
	bool has_line, has_dwo;
	uint64_t low_pc, line_offset;
	struct value high_pc, ranges; /* form 0: absent */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint64_t dwo_id;

	struct unit *skeleton; /* of a split unit: it has the addresses */
	struct unit *split;    /* of a skeleton: it has the functions */
	bool split_tried;
	struct scope_tree *scopes;  /* owned; NULL until a name needs it */
	struct unit_tables *tables; /* owned by the dwarf */
};

struct die {
	struct unit *unit;
	const struct abbrev *abbrev;
	uint64_t offset;
	uint64_t next; /* what follows its attributes */
	uint32_t present;
	struct value values[SLOTS];
};

struct die_ref {
	struct unit *unit; /* NULL: none */
	uint64_t offset;
};

/* Takes elf on success. NULL if out of memory. */
struct image *image_new(struct elf_file *elf, bool split);
void image_free(struct image *image); /* NULL is fine */
void image_drop(struct image *image); /* frees the memory of sections */
uint64_t image_resident(const struct image *image);

/* Lists all units of .debug_info and .debug_types. A bad unit ends the list of its section. */
int image_read_units(struct image *image);
/* Reads the header at offset. -EBADMSG without one; *ret_next is the next header. */
int unit_read_header(struct image *image, enum section_id section, uint64_t offset,
		     struct unit **ret, uint64_t *ret_next);

struct unit *image_find_unit(struct image *image, uint64_t offset); /* in .debug_info */
struct unit *image_find_type(struct image *image, uint64_t signature);

/* Reads the root entry; done once. False when the unit is useless. */
bool unit_prepare(struct unit *unit);
/* The same, and reads the whole table of abbreviations. */
bool unit_open(struct unit *unit);
/* Bytes of the unit from offset on: at least n, or NULL. */
const uint8_t *unit_bytes(struct unit *unit, uint64_t offset, uint64_t n);

/* Reads an entry; false at the end of siblings (a null entry) and if it is damaged. */
bool die_read(struct unit *unit, uint64_t offset, struct die *ret);
/* The same at a pointer to offset, with all bytes up to end already read. */
const uint8_t *die_read_at(struct unit *unit, const struct abbrev *abbrev, const uint8_t *at,
			   const uint8_t *end, struct die *ret);

static inline bool die_has(const struct die *die, enum die_slot slot)
{
	return die->present >> slot & 1;
}

/* Interpret a value. false (or NULL) when it is absent, damaged or of another kind. */
bool die_address(const struct die *die, enum die_slot slot, uint64_t *ret);
bool die_number(const struct die *die, enum die_slot slot, uint64_t *ret);
const char *die_text(const struct die *die, enum die_slot slot);
struct die_ref die_reference(const struct die *die, enum die_slot slot);
const char *value_text(const struct unit *unit, const struct value *value);
/* The i-th address of the unit's part of .debug_addr. */
bool unit_indexed_address(const struct unit *unit, uint64_t i, uint64_t *ret);

const uint8_t *value_read(struct unit_shape shape, const struct abbrev_attribute *attribute,
			  const uint8_t *at, const uint8_t *end, struct value *ret);

#endif
