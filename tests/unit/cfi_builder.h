/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_UNIT_CFI_BUILDER_H
#define WICK_TESTS_UNIT_CFI_BUILDER_H

/*
 * cfi_builder: ELF images with call frame information, for tests.
 *
 *	struct cfi_builder b;
 *	cfi_builder_init(&b, EM_AARCH64);
 *	size_t cie = cfi_builder_cie(&b, "zR", code, sizeof(code));
 *	cfi_builder_fde(&b, cie, 0x1000, 0x40, program, sizeof(program));
 *	struct elf_file *elf = cfi_builder_open(&b);
 *
 * Code lies at CODE; its bytes are zeros unless the test sets some.
 */

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "elf/elf.h"

#include "elf_builder.h"

#define CODE 0x1000ull
#define CODE_BYTES 0x1000u
#define EH_FRAME 0x20000ull

struct cfi_builder {
	struct elf_builder elf;
	struct bytes frames;
	uint8_t code[CODE_BYTES];
	uint8_t encoding; /* of pointers, for CIEs and FDEs that follow */
	const char *section;
	uint8_t build_id_size;
};

static inline void cfi_builder_init(struct cfi_builder *b, uint16_t machine)
{
	memset(b, 0, sizeof(*b));
	builder_init(&b->elf, ET_DYN);
	b->elf.header.e_machine = machine;
	b->section = ".eh_frame";
	b->encoding = 0x03; /* four bytes, absolute */
}

static inline void cfi_builder_fill(struct cfi_builder *b, size_t start)
{
	uint32_t length = (uint32_t)(b->frames.size - start - 4);

	memcpy(b->frames.data + start, &length, sizeof(length));
}

/* Adds a CIE with the alignments of its machine. Returns its offset. */
static inline size_t cfi_builder_cie(struct cfi_builder *b, const char *letters,
				     const uint8_t *program, size_t size)
{
	size_t start = b->frames.size;
	bool is_arm = b->elf.header.e_machine == EM_AARCH64;

	bytes_put_u32(&b->frames, 0);
	bytes_put_u32(&b->frames, b->section[1] == 'e' ? 0 : UINT32_MAX);
	bytes_put_u8(&b->frames, 1);
	bytes_put(&b->frames, letters, strlen(letters) + 1);
	bytes_put_varint(&b->frames, is_arm ? 4 : 1);
	bytes_put_u8(&b->frames, 0x78); /* -8 */
	bytes_put_u8(&b->frames, is_arm ? 30 : 16);
	if (letters[0] == 'z') {
		bytes_put_varint(&b->frames, 1);
		bytes_put_u8(&b->frames, b->encoding);
	}
	bytes_put(&b->frames, program, size);
	cfi_builder_fill(b, start);
	return start;
}

static inline void cfi_builder_pointer(struct cfi_builder *b, uint64_t value)
{
	uint8_t form = b->encoding & 0x0f;

	if ((b->encoding & 0x70) == 0x10)
		value -= EH_FRAME + b->frames.size;
	if (form == 0x02 || form == 0x0a)
		bytes_put_u16(&b->frames, (uint16_t)value);
	else if (form == 0x03 || form == 0x0b)
		bytes_put_u32(&b->frames, (uint32_t)value);
	else
		bytes_put_u64(&b->frames, value);
}

static inline void cfi_builder_fde(struct cfi_builder *b, size_t cie, uint64_t start,
				   uint64_t size_bytes, const uint8_t *program, size_t size)
{
	size_t at = b->frames.size;
	uint8_t encoding = b->encoding;

	bytes_put_u32(&b->frames, 0);
	bytes_put_u32(&b->frames, (uint32_t)(b->section[1] == 'e' ? at + 4 - cie : cie));
	cfi_builder_pointer(b, start);
	b->encoding &= 0x0f;
	cfi_builder_pointer(b, size_bytes);
	b->encoding = encoding;
	if (b->section[1] == 'e')
		bytes_put_varint(&b->frames, 0);
	bytes_put(&b->frames, program, size);
	cfi_builder_fill(b, at);
}

/* Ends the section that is being written, if there is one, and starts another. */
static inline void cfi_builder_end_section(struct cfi_builder *b, const char *next)
{
	uint16_t at;

	if (b->frames.size == 0)
		return;
	at = builder_section(&b->elf, b->section, SHT_PROGBITS, b->frames.data, b->frames.size);
	b->elf.sections[at].sh_addr = EH_FRAME;
	b->section = next;
	bytes_clear(&b->frames);
}

static inline void cfi_builder_build_id(struct cfi_builder *b, uint8_t seed)
{
	uint8_t note[36] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	uint64_t offset;

	memset(note + 16, seed, 20);
	offset = builder_bytes(&b->elf, note, sizeof(note));
	builder_segment(&b->elf, (Elf64_Phdr){.p_type = PT_NOTE,
					      .p_offset = offset,
					      .p_filesz = sizeof(note),
					      .p_memsz = sizeof(note),
					      .p_align = 4});
}

/* The image; it must outlive the elf_file. Frees what the builder holds. */
static inline struct elf_file *cfi_builder_open(struct cfi_builder *b)
{
	struct elf_file *elf = NULL;
	uint64_t offset = builder_bytes(&b->elf, b->code, sizeof(b->code));

	builder_segment(&b->elf, (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_offset = offset,
					      .p_vaddr = CODE,
					      .p_filesz = CODE_BYTES,
					      .p_memsz = CODE_BYTES,
					      .p_align = 8});
	cfi_builder_end_section(b, "");
	bytes_fini(&b->frames);
	builder_finish(&b->elf);
	if (elf_open_memory(b->elf.data, b->elf.size, "image", &elf, NULL) < 0)
		abort();
	return elf;
}

#endif
