/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go_table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "elf/elf.h"

/*
 *	header   magic:u32 zero:u16 step:u8 pointer:u8 functions:u64 files:u64
 *	         [text:u64 since 1.18] names:u64 units:u64 files:u64 values:u64 functab:u64
 *	functab  (start funcoff)[functions] end      pointers in 1.16, u32 from text since 1.18
 *	func     start (pointer or u32) name:u32 …
 *
 * Offsets count from the header; those of functions from functab.
 */
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define POINTER_BYTES 8u
#define MAX_TABLE_BYTES (256ull << 20)

bool go_table_init(struct go_table *table, const void *data, size_t size, uint64_t text_vaddr)
{
	struct cursor in = cursor_of(data, size);
	uint32_t magic = cursor_u32(&in);
	uint16_t zero = cursor_u16(&in);
	uint8_t step = cursor_u8(&in);
	uint8_t pointer = cursor_u8(&in);

	*table = (struct go_table){.data = data, .size = size, .step = step};
	if ((magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20) || zero != 0 ||
	    step == 0 || pointer != POINTER_BYTES)
		return false;
	table->count = cursor_u64(&in);
	(void)cursor_u64(&in); /* files */
	table->word_bytes = magic == MAGIC_1_16 ? POINTER_BYTES : sizeof(uint32_t);
	if (magic != MAGIC_1_16) {
		table->text = cursor_u64(&in);
		if (table->text == 0) /* the linker of a PIE leaves it to a relocation */
			table->text = text_vaddr;
	}
	table->names = cursor_u64(&in);
	table->units = cursor_u64(&in);
	table->files = cursor_u64(&in);
	table->values = cursor_u64(&in);
	table->functab = cursor_u64(&in);
	return !in.failed && table->names < size && table->functab < size &&
	       table->count < (size - table->functab) / (2 * table->word_bytes);
}

int go_table_read(struct elf_file *elf, void **ret_data, size_t *ret_size, uint64_t *ret_text,
		  uint64_t *ret_text_size)
{
	const struct elf_section *section = elf_section_find(elf, ".gopclntab");
	const struct elf_section *text = elf_section_find(elf, ".text");

	if (!section)
		section = elf_section_find(elf, ".data.rel.ro.gopclntab");
	if (!section || !text || section->type == SHT_NOBITS || section->size > MAX_TABLE_BYTES ||
	    text->size > UINT64_MAX - text->addr ||
	    elf_section_read(elf, section, ret_data, ret_size, NULL) < 0)
		return -ENOENT;
	*ret_text = text->addr;
	*ret_text_size = text->size;
	return 0;
}

/* Word i of functab; there, see go_table_init(). */
static uint64_t functab_word(const struct go_table *table, uint64_t i)
{
	const uint8_t *at = table->data + table->functab + i * table->word_bytes;
	uint64_t wide = 0;

	memcpy(&wide, at, table->word_bytes); /* little-endian both */
	return wide;
}

uint64_t go_table_start(const struct go_table *table, uint64_t i)
{
	return table->text + functab_word(table, 2 * i);
}

const uint8_t *go_table_function(const struct go_table *table, uint64_t i, uint64_t at, size_t n)
{
	uint64_t offset = functab_word(table, 2 * i + 1);
	uint64_t room = table->size - table->functab;

	if (offset > room || at > room - offset || n > room - offset - at)
		return NULL;
	return table->data + table->functab + offset + at;
}

const char *go_table_text(const struct go_table *table, uint64_t base, uint64_t offset)
{
	const char *text;

	if (base >= table->size || offset >= table->size - base)
		return NULL;
	text = (const char *)table->data + base + offset;
	if (text[0] == '\0' || !memchr(text, '\0', table->size - base - offset))
		return NULL;
	return text;
}
