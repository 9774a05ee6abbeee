/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_SECTION_H
#define WICK_DWARF_SECTION_H

/*
 * section: the bytes of one debug section, read from the file block by block as needed.
 *
 * Address space is reserved for the whole section, so that pointers into it stay valid while more
 * is read; only blocks that were touched use memory. Compressed sections (SHF_COMPRESSED with zlib
 * or zstd, .zdebug_*) are inflated at first use.
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
	uint64_t *present; /* a bit for each block; NULL when everything was read */
	bool failed;       /* damaged or too large: treated as empty */
	bool inflated;
};

/* Looks for ".<name>" and ".z<name>" (without the dot: "debug_info"). */
void section_init(struct section *section, struct elf_file *elf, const char *name);
void section_fini(struct section *section);

/* Whether the section has bytes. Opens it. */
bool section_exists(struct section *section);
uint64_t section_size(struct section *section); /* 0 without one */

/* n bytes at offset, or NULL unless all of them exist. n may be 0. */
const uint8_t *section_at(struct section *section, uint64_t offset, uint64_t n);

/* The NUL-terminated text at offset, NULL if it is unterminated. */
const char *section_text(struct section *section, uint64_t offset);

/* Frees memory; blocks are read again when needed. */
void section_drop(struct section *section);

/* The same for a section of which little was read, so that it may get huge pages. */
void section_renew(struct section *section);

#endif
