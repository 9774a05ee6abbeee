/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_SECTION_H
#define WICK_DWARF_SECTION_H

/*
 * section: the bytes of one debug section, read from the file block by block as
 * they are asked for.
 *
 * The section has its whole size reserved as address space, so that an answer is
 * a pointer and stays one while more is read; memory is used only by blocks that
 * were touched. Compressed sections (SHF_COMPRESSED with zlib or zstd, .zdebug_*)
 * are inflated at first use.
 *
 * Pointers are valid until section_drop() or section_fini().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;

struct section {
	struct elf_file *elf; /* borrowed; NULL when the file has no such section */
	const struct elf_section *header;
	uint8_t *data; /* size bytes of address space; NULL before the first use */
	uint64_t size;
	uint64_t resident; /* bytes that were read */
	uint64_t *present; /* a bit for each block; NULL when all of it is there */
	bool failed;       /* damaged or too large: as if it were empty */
	bool inflated;
};

/* Looks for ".<name>" and ".z<name>" (without the dot: "debug_info"). */
void section_init(struct section *section, struct elf_file *elf, const char *name);
void section_fini(struct section *section);

/* Whether there are bytes to be had. Opens the section. */
bool section_exists(struct section *section);
uint64_t section_size(struct section *section); /* 0 when there is none */

/* n bytes at offset, or NULL when they are not all there. n may be 0. */
const uint8_t *section_at(struct section *section, uint64_t offset, uint64_t n);

/* The NUL-terminated text at offset, NULL when it has no end. */
const char *section_text(struct section *section, uint64_t offset);

/* Gives memory back; what is needed again is read again. */
void section_drop(struct section *section);

/* The same for a section of which little was read, so that large pages may follow. */
void section_renew(struct section *section);

#endif
