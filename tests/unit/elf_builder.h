/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_UNIT_ELF_BUILDER_H
#define WICK_TESTS_UNIT_ELF_BUILDER_H

/*
 * elf_builder: small ELF images for tests.
 *
 *	header | program headers (room for 8) | section bytes ... | section headers
 *
 * Sections may be added without bytes, to describe text that nobody reads.
 */

#include <assert.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BUILDER_SEGMENTS 8
#define BUILDER_SECTIONS 16

struct elf_builder {
	uint8_t data[1 << 16];
	size_t size;
	Elf64_Ehdr header;
	Elf64_Phdr segments[BUILDER_SEGMENTS];
	Elf64_Shdr sections[BUILDER_SECTIONS];
	char names[512];
	size_t names_size;
};

static inline void builder_init(struct elf_builder *b, uint16_t type)
{
	memset(b, 0, sizeof(*b));
	memcpy(b->header.e_ident, ELFMAG, SELFMAG);
	b->header.e_ident[EI_CLASS] = ELFCLASS64;
	b->header.e_ident[EI_DATA] = ELFDATA2LSB;
	b->header.e_ident[EI_VERSION] = EV_CURRENT;
	b->header.e_type = type;
	b->header.e_machine = EM_AARCH64;
	b->header.e_phoff = sizeof(b->header);
	b->header.e_phentsize = sizeof(Elf64_Phdr);
	b->header.e_shentsize = sizeof(Elf64_Shdr);
	b->header.e_shnum = 1; /* the null section */
	b->size = sizeof(b->header) + sizeof(b->segments);
	b->names_size = 1;
}

static inline void builder_segment(struct elf_builder *b, Elf64_Phdr segment)
{
	assert(b->header.e_phnum < BUILDER_SEGMENTS);
	b->segments[b->header.e_phnum++] = segment;
}

/* Appends bytes to the image and returns their offset. */
static inline uint64_t builder_bytes(struct elf_builder *b, const void *bytes, size_t n)
{
	uint64_t offset = b->size = (b->size + 7) & ~(size_t)7;

	assert(b->size + n <= sizeof(b->data));
	if (n > 0)
		memcpy(b->data + offset, bytes, n);
	b->size += n;
	return offset;
}

/* Adds a section header as it is, with a name. Returns the index. */
static inline uint16_t builder_header(struct elf_builder *b, const char *name, Elf64_Shdr section)
{
	size_t n = strlen(name) + 1;

	assert(b->header.e_shnum < BUILDER_SECTIONS && b->names_size + n <= sizeof(b->names));
	section.sh_name = (uint32_t)b->names_size;
	memcpy(b->names + b->names_size, name, n);
	b->names_size += n;
	b->sections[b->header.e_shnum] = section;
	return b->header.e_shnum++;
}

static inline uint16_t builder_section(struct elf_builder *b, const char *name, uint32_t type,
				       const void *bytes, size_t n)
{
	return builder_header(b, name,
			      (Elf64_Shdr){.sh_type = type,
					   .sh_offset = builder_bytes(b, bytes, n),
					   .sh_size = n});
}

/* A section of code that has addresses and no bytes. */
static inline uint16_t builder_text(struct elf_builder *b, const char *name, uint64_t addr,
				    uint64_t size)
{
	return builder_header(b, name,
			      (Elf64_Shdr){.sh_type = SHT_NOBITS,
					   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					   .sh_addr = addr,
					   .sh_size = size});
}

/* Writes the headers; the image is data[0..size). */
static inline void builder_finish(struct elf_builder *b)
{
	builder_header(b, ".shstrtab", (Elf64_Shdr){.sh_type = SHT_STRTAB});
	b->header.e_shstrndx = (uint16_t)(b->header.e_shnum - 1);
	b->sections[b->header.e_shstrndx].sh_offset = builder_bytes(b, b->names, b->names_size);
	b->sections[b->header.e_shstrndx].sh_size = b->names_size;
	b->header.e_shoff =
		builder_bytes(b, b->sections, b->header.e_shnum * sizeof(b->sections[0]));
	memcpy(b->data, &b->header, sizeof(b->header));
	memcpy(b->data + sizeof(b->header), b->segments, sizeof(b->segments));
}

#endif
