/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

#define NOTE_NAME "GNU"

/* The sections in their order. */
enum { SECTION_NONE, SECTION_NOTE, SECTION_TEXT, SECTION_SYMBOLS, SECTION_NAMES, SECTION_TITLES };
#define SECTION_COUNT (SECTION_TITLES + 1)

/* Their names, each after a NUL. */
static const char titles[] = "\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab";
static const uint32_t title_at[SECTION_COUNT] = {0, 1, 20, 26, 34, 42};

/* A file being made. */
struct maker {
	size_t max_bytes;
	struct bytes symbols;
	struct bytes names;
	uint64_t low; /* what all functions cover */
	uint64_t high;
	int count;
};

static bool is_kept(const struct elf_symbol *symbol)
{
	return symbol->name[0] && symbol->size > 0 && symbol->size <= UINT64_MAX - symbol->start &&
	       strnlen(symbol->name, SYMBOL_FILE_NAME_MAX + 1) <= SYMBOL_FILE_NAME_MAX;
}

/* 0 or -EFBIG; what is out of memory shows at the end. */
static int add_symbol(struct maker *maker, const struct elf_symbol *symbol)
{
	Elf64_Sym entry = {
		.st_name = (uint32_t)maker->names.size,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = SECTION_TEXT,
		.st_value = symbol->start,
		.st_size = symbol->size,
	};

	if (maker->symbols.size + maker->names.size > maker->max_bytes || maker->count == INT_MAX)
		return -EFBIG;
	bytes_put(&maker->symbols, &entry, sizeof(entry));
	bytes_put(&maker->names, symbol->name, strlen(symbol->name) + 1);
	if (maker->count == 0 || symbol->start < maker->low)
		maker->low = symbol->start;
	if (symbol->start + symbol->size > maker->high)
		maker->high = symbol->start + symbol->size;
	maker->count++;
	return 0;
}

static int add_tables(struct maker *maker, const struct symbol_file_source *source)
{
	static const Elf64_Sym none = {0};
	int r = 0;

	bytes_put(&maker->symbols, &none, sizeof(none));
	bytes_put_u8(&maker->names, 0);
	for (size_t i = 0; i < source->table_count; i++)
		for (uint32_t k = 0; k < elf_symbols_count(source->tables[i]) && r == 0; k++) {
			struct elf_symbol symbol = elf_symbols_at(source->tables[i], k);

			if (is_kept(&symbol))
				r = add_symbol(maker, &symbol);
		}
	return r;
}

static void put_aligned(struct bytes *out, size_t start)
{
	while ((out->size - start) % 8 > 0 && !out->failed)
		bytes_put_u8(out, 0);
}

static void put_note(struct bytes *out, const struct build_id *id)
{
	Elf64_Nhdr note = {
		.n_namesz = sizeof(NOTE_NAME), .n_descsz = id->size, .n_type = NT_GNU_BUILD_ID};

	bytes_put(out, &note, sizeof(note));
	bytes_put(out, NOTE_NAME, sizeof(NOTE_NAME));
	bytes_put(out, id->bytes, id->size);
}

/* A section of the bytes from its offset to here. */
static void end_section(const struct bytes *out, size_t start, Elf64_Shdr *section)
{
	section->sh_size = out->size - start - section->sh_offset;
}

static void begin_section(struct bytes *out, size_t start, Elf64_Shdr *section)
{
	put_aligned(out, start);
	section->sh_offset = out->size - start;
}

static void put_sections(const struct maker *maker, const struct symbol_file_source *source,
			 struct bytes *out, size_t start, Elf64_Shdr *sections)
{
	begin_section(out, start, &sections[SECTION_NOTE]);
	put_note(out, source->build_id);
	end_section(out, start, &sections[SECTION_NOTE]);
	begin_section(out, start, &sections[SECTION_SYMBOLS]);
	bytes_put(out, maker->symbols.data, maker->symbols.size);
	end_section(out, start, &sections[SECTION_SYMBOLS]);
	begin_section(out, start, &sections[SECTION_NAMES]);
	bytes_put(out, maker->names.data, maker->names.size);
	end_section(out, start, &sections[SECTION_NAMES]);
	begin_section(out, start, &sections[SECTION_TITLES]);
	bytes_put(out, titles, sizeof(titles));
	end_section(out, start, &sections[SECTION_TITLES]);
	put_aligned(out, start);
}

static void put_file(const struct maker *maker, const struct symbol_file_source *source,
		     struct bytes *out)
{
	size_t start = out->size;
	Elf64_Shdr sections[SECTION_COUNT] = {
		[SECTION_NOTE] = {.sh_type = SHT_NOTE, .sh_addralign = 4},
		[SECTION_TEXT] = {.sh_type = SHT_NOBITS,
				  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				  .sh_addr = maker->low,
				  .sh_size = maker->high - maker->low,
				  .sh_addralign = 1},
		[SECTION_SYMBOLS] = {.sh_type = SHT_SYMTAB,
				     .sh_link = SECTION_NAMES,
				     .sh_info = 1, /* the first that is not local */
				     .sh_addralign = 8,
				     .sh_entsize = sizeof(Elf64_Sym)},
		[SECTION_NAMES] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
		[SECTION_TITLES] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
	};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = source->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(sections[0]),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_TITLES,
	};

	bytes_put(out, &header, sizeof(header));
	put_sections(maker, source, out, start, sections);
	header.e_shoff = out->size - start;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		sections[i].sh_name = title_at[i];
	bytes_put(out, sections, sizeof(sections));
	if (!out->failed)
		memcpy(out->data + start, &header, sizeof(header));
}

static void maker_fini(struct maker *maker)
{
	bytes_fini(&maker->symbols);
	bytes_fini(&maker->names);
}

static int refuse_large(size_t max_bytes, struct error *err)
{
	(void)error_set(err, -EFBIG, "the names of the functions take more than %zu bytes",
			max_bytes);
	error_remedy(err, "remove symbols that are not needed: strip --strip-unneeded");
	return -EFBIG;
}

int symbol_file_make(const struct symbol_file_source *source, size_t max_bytes, struct bytes *ret,
		     struct error *err)
{
	struct maker maker = {.max_bytes = max_bytes};
	int count;
	int r = add_tables(&maker, source);

	if (r == 0 && maker.count > 0)
		put_file(&maker, source, ret);
	count = maker.count;
	if (r == 0 && (maker.symbols.failed || maker.names.failed || ret->failed))
		r = -ENOMEM;
	maker_fini(&maker);
	if (r == -EFBIG)
		return refuse_large(max_bytes, err);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (count > 0)
		return count;
	(void)error_set(err, -ENOENT, "the program has no functions with names");
	error_remedy(err, "send a file that is not stripped, or its debug file");
	return -ENOENT;
}
