/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "symbol/symbol_index.h"

/*
 *	header   magic:u32 zero:u16 step:u8 pointer:u8 functions:u64 files:u64
 *	         [text:u64 since 1.18] names:u64 units:u64 files:u64 tables:u64 functab:u64
 *	functab  (start funcoff)[functions] end      pointers in 1.16, u32 from text since 1.18
 *	func     start (pointer or u32) name:u32 …
 *
 * Offsets count from the header; those of functions from functab, those of names from names.
 */
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define POINTER_BYTES 8u
#define MAX_TABLE_BYTES (256ull << 20)

struct go_table {
	const uint8_t *data;
	size_t size;
	uint64_t count;
	uint64_t text;  /* what starts count from */
	uint64_t names; /* offsets in the data */
	uint64_t functab;
	size_t word_bytes; /* of functab */
};

static bool read_header(struct go_table *table, uint64_t text_vaddr)
{
	struct cursor in = cursor_of(table->data, table->size);
	uint32_t magic = cursor_u32(&in);
	uint16_t zero = cursor_u16(&in);
	uint8_t step = cursor_u8(&in);
	uint8_t pointer = cursor_u8(&in);

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
	(void)cursor_take(&in, 3 * sizeof(uint64_t)); /* units, files, tables */
	table->functab = cursor_u64(&in);
	return !in.failed && table->names < table->size && table->functab < table->size &&
	       table->count < (table->size - table->functab) / (2 * table->word_bytes);
}

/* Word i of functab; there, see read_header(). */
static uint64_t functab_word(const struct go_table *table, uint64_t i)
{
	const uint8_t *at = table->data + table->functab + i * table->word_bytes;
	uint64_t wide = 0;

	memcpy(&wide, at, table->word_bytes); /* little-endian both */
	return wide;
}

/* The name of the function at an offset from functab, NULL when that is damaged. */
static const char *name_at(const struct go_table *table, uint64_t offset)
{
	uint64_t room = table->size - table->functab;
	size_t name_at = table->word_bytes;
	uint32_t name;
	const char *text;

	if (room < name_at + sizeof(name) || offset > room - name_at - sizeof(name))
		return NULL;
	memcpy(&name, table->data + table->functab + offset + name_at, sizeof(name));
	if (name >= table->size - table->names)
		return NULL;
	text = (const char *)table->data + table->names + name;
	if (text[0] == '\0' || !memchr(text, '\0', table->size - table->names - name))
		return NULL;
	return text;
}

int go_functions_parse(const void *data, size_t size, uint64_t text_vaddr, uint64_t text_size,
		       struct symbol_list *list)
{
	struct go_table table = {.data = data, .size = size};

	if (!read_header(&table, text_vaddr))
		return 0;
	for (uint64_t i = 0; i < table.count; i++) {
		uint64_t start = table.text + functab_word(&table, 2 * i);
		uint64_t end = table.text + functab_word(&table, 2 * i + 2);
		const char *name = name_at(&table, functab_word(&table, 2 * i + 1));
		struct symbol_candidate item = {.start = start,
						.size = end - start,
						.kind = KIND_FUNCTION,
						.binding = BINDING_GLOBAL,
						.is_sized = true};

		if (!name || end <= start || start < text_vaddr ||
		    start - text_vaddr >= text_size ||
		    end - start > text_size - (start - text_vaddr))
			continue;
		item.name = symbol_list_name(list, name, "");
		if (item.name && vec_push(&list->items, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

int go_functions_add(struct elf_file *elf, struct symbol_list *list)
{
	const struct elf_section *section = elf_section_find(elf, ".gopclntab");
	const struct elf_section *text = elf_section_find(elf, ".text");
	SCOPED(mem) void *data = NULL;
	size_t size = 0;

	if (!section)
		section = elf_section_find(elf, ".data.rel.ro.gopclntab");
	if (!section || !text || section->type == SHT_NOBITS || section->size > MAX_TABLE_BYTES ||
	    text->size > UINT64_MAX - text->addr ||
	    elf_section_read(elf, section, &data, &size, NULL) < 0)
		return 0;
	return go_functions_parse(data, size, text->addr, text->size, list);
}
