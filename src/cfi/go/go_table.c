/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/go/go_table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "elf/elf.h"

/*
 *	header   magic:u32 zero:u16 step:u8 pointer:u8 functions:u64 files:u64
 *	         [text:u64 since 1.18] names:u64 units:u64 files:u64 values:u64 functab:u64
 *	functab  (start funcoff)[functions] end      pointers in 1.16, u32 from text since 1.18
 *	func     start (pointer or u32) name:u32 args:u32 defer:u32 sp:u32 file:u32 line:u32
 *	         pcdata:u32 unit:u32 [line:u32 since 1.20] id:u8 [flags:u8 since 1.17] …
 *	values   (change of the value: zigzag, bytes of code / step)…, until a change of 0
 *
 * Offsets are relative to the header; those of functions to functab. sp, file and line are offsets
 * of such tables among the values; the value before the first change is -1.
 */
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define POINTER_BYTES 8u
#define FLAGS_1_17 33u
#define FLAGS_1_20 37u
#define TEXT_OFFSET 24u
#define MAX_TABLE_BYTES (256ull << 20)
#define MAX_RELOCATION_BYTES (64ull << 20)

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
	/* 1.16 has zeros where 1.17, which looks the same, has flags. */
	table->flags_at = magic == MAGIC_1_20 ? FLAGS_1_20 : FLAGS_1_17;
	table->word_bytes = magic == MAGIC_1_16 ? POINTER_BYTES : sizeof(uint32_t);
	if (magic != MAGIC_1_16) {
		table->text = cursor_u64(&in);
		table->text_is_guessed = table->text == 0;
		if (table->text_is_guessed) /* in a PIE the linker leaves it to a relocation */
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

/* Word i of functab; go_table_init() checked that it exists. */
static uint64_t functab_word(const struct go_table *table, uint64_t i)
{
	const uint8_t *at = table->data + table->functab + i * table->word_bytes;
	uint64_t wide = 0;

	memcpy(&wide, at, table->word_bytes); /* both little-endian */
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

/*
 * In a position-independent program a relocation says where the code begins: not at .text if C is
 * linked into it. Applies the relocation.
 */
static void relocate_text(struct elf_file *elf, uint64_t vaddr, uint8_t *data, size_t size)
{
	const struct elf_section *relocations = elf_section_find(elf, ".rela.dyn");
	SCOPED(mem) void *entries = NULL;
	uint64_t text;
	size_t bytes = 0;

	if (size < TEXT_OFFSET + sizeof(text))
		return;
	memcpy(&text, data + TEXT_OFFSET, sizeof(text));
	if (text != 0 || !relocations || relocations->size > MAX_RELOCATION_BYTES ||
	    elf_section_read(elf, relocations, &entries, &bytes, NULL) < 0)
		return;
	for (size_t i = 0; i + sizeof(Elf64_Rela) <= bytes; i += sizeof(Elf64_Rela)) {
		Elf64_Rela entry;

		memcpy(&entry, (const uint8_t *)entries + i, sizeof(entry));
		if (entry.r_offset == vaddr + TEXT_OFFSET)
			memcpy(data + TEXT_OFFSET, &entry.r_addend, sizeof(entry.r_addend));
	}
}

/* Whether the description of the first function, which follows the list, agrees with the list. */
static bool is_sound(const struct go_table *table)
{
	const uint8_t *at = go_table_function(table, 0, 0, table->word_bytes);
	uint64_t start = 0;

	if (!at || table->count == 0 ||
	    functab_word(table, 1) < (2 * table->count + 1) * table->word_bytes)
		return false;
	memcpy(&start, at, table->word_bytes);
	return start == functab_word(table, 0);
}

/* Where the header is among other data; size if it is not there. */
static size_t find_header(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at + POINTER_BYTES <= size; at += POINTER_BYTES) {
		struct go_table table;

		if (data[at + 1] == 0xff && data[at + 2] == 0xff && data[at + 3] == 0xff &&
		    go_table_init(&table, data + at, size - at, 0) && is_sound(&table))
			return at;
	}
	return size;
}

/* C linkers put the table of a PIE together with other data. */
static int read_among_others(struct elf_file *elf, void **ret_data, size_t *ret_size,
			     uint64_t *ret_vaddr)
{
	const struct elf_section *section = elf_section_find(elf, ".data.rel.ro");
	SCOPED(mem) uint8_t *data = NULL;
	void *all = NULL;
	size_t size, at;

	if (!elf_section_find(elf, ".go.buildinfo") || !section || section->type == SHT_NOBITS ||
	    section->size > MAX_TABLE_BYTES ||
	    elf_section_read(elf, section, &all, &size, NULL) < 0)
		return -ENOENT;
	data = all;
	at = find_header(data, size);
	if (at == size)
		return -ENOENT;
	memmove(data, data + at, size - at);
	*ret_vaddr = section->addr + at;
	*ret_size = size - at;
	*ret_data = scope_take(&data);
	return 0;
}

int go_table_read(struct elf_file *elf, void **ret_data, size_t *ret_size, uint64_t *ret_text,
		  uint64_t *ret_text_size)
{
	const struct elf_section *section = elf_section_find(elf, ".gopclntab");
	const struct elf_section *text = elf_section_find(elf, ".text");
	uint64_t vaddr = 0;
	int r = -ENOENT;

	if (!section)
		section = elf_section_find(elf, ".data.rel.ro.gopclntab");
	if (!text || text->size > UINT64_MAX - text->addr)
		return -ENOENT;
	if (!section)
		r = read_among_others(elf, ret_data, ret_size, &vaddr);
	else if (section->type != SHT_NOBITS && section->size <= MAX_TABLE_BYTES)
		r = elf_section_read(elf, section, ret_data, ret_size, NULL);
	if (r < 0)
		return -ENOENT;
	relocate_text(elf, section ? section->addr : vaddr, *ret_data, *ret_size);
	*ret_text = text->addr;
	*ret_text_size = text->size;
	return 0;
}

struct go_values go_values_of(const struct go_table *table, uint32_t offset)
{
	struct go_values values = {.value = -1, .step = table->step};

	if (offset == 0 || table->values >= table->size || offset >= table->size - table->values)
		values.in = cursor_of("", 0);
	else
		values.in = cursor_of(table->data + table->values + offset,
				      table->size - table->values - offset);
	return values;
}

bool go_values_next(struct go_values *values)
{
	uint64_t change = cursor_varint(&values->in);
	uint64_t steps = cursor_varint(&values->in);

	if (values->in.failed || (change == 0 && values->end > 0) || steps > UINT32_MAX)
		return false;
	values->value = (int64_t)((uint64_t)values->value + (uint64_t)zigzag_decode(change));
	values->start = values->end;
	values->end += steps * values->step;
	return true;
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

const char *go_table_name(const struct go_table *table, uint64_t i)
{
	const uint8_t *at = go_table_function(table, i, table->word_bytes, sizeof(uint32_t));
	uint32_t name;

	if (!at)
		return NULL;
	memcpy(&name, at, sizeof(name));
	return go_table_text(table, table->names, name);
}
