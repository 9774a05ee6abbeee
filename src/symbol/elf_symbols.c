/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "symbol/disk_table.h"
#include "symbol/frame_functions.h"
#include "symbol/go/go_functions.h"
#include "symbol/mini_debug.h"
#include "symbol/plt_symbols.h"
#include "symbol/sizeless_symbols.h"
#include "symbol/symbol_index.h"

#define MAX_SYMBOLS (1u << 26)
/* Smaller tables are built faster than they are found on disk. */
#define WORTH_KEEPING_SYMBOLS 512u

struct elf_symbols {
	char *names; /* consecutive NUL-terminated texts; the first one is empty */
	struct symbol_index index;
	bool named;
	struct disk_table *disk; /* instead of all that; or NULL */
};

static void scope_release_list(struct symbol_list *list)
{
	symbol_list_fini(list);
}

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static void scope_release_elf_symbols(struct elf_symbols **symbols)
{
	elf_symbols_free(*symbols);
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->names);
	symbol_index_fini(&symbols->index);
	disk_table_close(symbols->disk);
	free(symbols);
}

/* $x, $d, $a, $t and $x.foo, $xrv64…: they mark code and data for disassemblers. */
static bool is_mapping_symbol(const char *name)
{
	if (name[0] != '$' || name[1] == '\0' || !strchr("adtx", name[1]))
		return false;
	return name[2] == '\0' || name[2] == '.' || (name[1] == 'x' && name[2] == 'r');
}

static bool is_label(const char *name)
{
	return name[0] == '.' && name[1] == 'L';
}

/* The section of code that contains the symbol, or NULL. */
static const struct elf_section *section_of(const struct elf_file *elf, const Elf64_Sym *symbol,
					    bool is_function)
{
	const struct elf_section *section = elf_section_at(elf, symbol->st_shndx);
	uint64_t wanted = is_function ? SHF_ALLOC : SHF_ALLOC | SHF_EXECINSTR;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || !section)
		return NULL;
	if ((section->flags & wanted) != wanted || section->size > UINT64_MAX - section->addr)
		return NULL;
	if (symbol->st_value < section->addr || symbol->st_value - section->addr >= section->size)
		return NULL;
	return section;
}

static int kind_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
		return KIND_FUNCTION;
	case STT_GNU_IFUNC:
		return KIND_IFUNC;
	case STT_NOTYPE:
		return KIND_UNTYPED;
	default:
		return -1;
	}
}

static uint8_t binding_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return BINDING_LOCAL;
	case STB_WEAK:
		return BINDING_WEAK;
	default:
		return BINDING_GLOBAL;
	}
}

/* "memcpy@@GLIBC_2.17" becomes "memcpy@ifunc": the code there is not memcpy but its resolver. */
static uint32_t name_resolver(struct symbol_list *list, uint32_t name)
{
	const char *text = (const char *)list->names.data + name;
	SCOPED(mem) char *plain = strndup(text, strcspn(text, "@"));

	return plain ? symbol_list_name(list, plain, "@ifunc") : 0;
}

static int add_candidate(struct symbol_list *list, const struct elf_file *elf,
			 const Elf64_Sym *symbol, uint32_t name, bool is_dynamic)
{
	const char *text = (const char *)list->names.data + name;
	const struct elf_section *section;
	int kind = kind_of(symbol);
	bool is_repeated;
	uint64_t room;
	bool is_sized;

	if (kind < 0 || text[0] == '\0')
		return 0;
	if (kind == KIND_UNTYPED && (is_mapping_symbol(text) || is_label(text)))
		return 0;
	section = section_of(elf, symbol, kind != KIND_UNTYPED);
	if (!section)
		return 0;
	/* "foo@GLIBC_2.17" in .symtab is "foo" in .dynsym, which is nicer. */
	is_repeated = is_dynamic || strchr(text, '@');
	if (kind == KIND_IFUNC) /* moves the text */
		name = name_resolver(list, name);
	room = section->addr + section->size - symbol->st_value;
	is_sized = symbol->st_size > 0;
	return vec_push(&list->items,
			(struct symbol_candidate){
				.start = symbol->st_value,
				.size = is_sized && symbol->st_size < room ? symbol->st_size : room,
				.is_sized = is_sized,
				.name = name,
				.kind = (uint8_t)kind,
				.binding = binding_of(symbol),
				.is_repeated = is_repeated,
			});
}

/* Appends the string table to the names and returns where it begins. */
static int append_names(struct symbol_list *list, struct elf_file *elf,
			const struct elf_section *strings, uint32_t *ret_base)
{
	uint8_t *place;
	int r;

	/* Before anything is allocated: the size may be wrong. */
	if (!elf_section_is_readable(elf, strings))
		return -ERANGE;
	r = symbol_list_reserve_names(list, strings->size, &place, ret_base);
	if (r < 0)
		return r;
	return elf_read_at(elf, strings->offset, place, strings->size);
}

static int read_table(struct symbol_list *list, struct elf_file *elf,
		      const struct elf_section *section, struct error *err)
{
	const struct elf_section *strings = elf_section_at(elf, section->link);
	SCOPED(mem) void *data = NULL;
	bool is_dynamic = section->type == SHT_DYNSYM;
	const Elf64_Sym *table;
	size_t size = 0;
	uint32_t base = 0;
	int r;

	/* A separate debug file lists .dynsym but does not contain it. */
	if (!strings || strings->type != SHT_STRTAB || section->type == SHT_NOBITS)
		return 0;
	r = elf_section_read(elf, section, &data, &size, err);
	if (r < 0)
		return r;
	if (size / sizeof(*table) > MAX_SYMBOLS)
		return error_advise(err,
				    error_set(err, -EFBIG, "%s has more than %u symbols",
					      section->name, (unsigned int)MAX_SYMBOLS),
				    "remove its debug symbols: strip -g");
	r = append_names(list, elf, strings, &base);
	if (r < 0)
		return error_errno(err, r, "cannot read the symbol names of %s", section->name);
	table = data;
	if (vec_reserve(&list->items, list->items.count + size / sizeof(*table)) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < size / sizeof(*table); i++) {
		if (table[i].st_name > strings->size)
			continue;
		if (add_candidate(list, elf, &table[i], base + table[i].st_name, is_dynamic) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Reads the table of a type; a file has at most one of each. *ret_found is whether it has one. */
static int read_type(struct symbol_list *list, struct elf_file *elf, uint32_t type, bool *ret_found,
		     struct error *err)
{
	*ret_found = false;
	for (size_t i = 0; i < elf_section_count(elf); i++) {
		const struct elf_section *section = elf_section_at(elf, i);

		if (section->type != type)
			continue;
		*ret_found = true;
		return read_table(list, elf, section, err);
	}
	return 0;
}

/* The symbols of .gnu_debugdata, an ELF file inside the file; none if it is missing or damaged. */
static int read_mini_debug(struct symbol_list *list, struct elf_file *elf, struct error *err)
{
	SCOPED(mem) void *image = NULL;
	SCOPED(elf) struct elf_file *inner = NULL;
	size_t size;
	bool found;

	if (mini_debug_inflate(elf, &image, &size) < 0 ||
	    elf_open_memory(image, size, ".gnu_debugdata", &inner, NULL) < 0)
		return 0;
	return read_type(list, inner, SHT_SYMTAB, &found, err);
}

static int read_all(struct symbol_list *list, struct elf_file *elf, bool inflates, bool *ret_named,
		    struct error *err)
{
	bool has_symtab;
	bool has_dynsym;
	int r;

	/* In objects that are not linked yet, addresses begin at 0 in each section. */
	if (elf_type(elf) == ET_REL)
		return 0;
	r = read_type(list, elf, SHT_SYMTAB, &has_symtab, err);
	if (r == 0 && !has_symtab && inflates)
		r = read_mini_debug(list, elf, err);
	if (r == 0)
		r = read_type(list, elf, SHT_DYNSYM, &has_dynsym, err);
	if (r == 0 && !has_symtab && go_functions_add(elf, list) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	*ret_named = list->items.count > 0;
	if (!has_symtab && sizeless_symbols_bound(elf, list) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (plt_symbols_add(elf, list) < 0 || frame_functions_add(elf, list) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Builds the table, and keeps it in the cache if that is worth it. */
static int build(struct elf_file *elf, bool inflates, struct cache_dir *cache,
		 struct elf_symbols **ret, struct error *err)
{
	SCOPED(elf_symbols) struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
	SCOPED(list) struct symbol_list list = {0};
	int r;

	if (!symbols)
		return error_set(err, -ENOMEM, "out of memory");
	r = read_all(&list, elf, inflates, &symbols->named, err);
	if (r < 0)
		return r;
	if (symbol_index_init(&symbols->index, &list) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	/* A file may have functions but no names: they have the empty name. */
	if (list.names.size == 0)
		bytes_put_u8(&list.names, 0);
	if (!list.names.data)
		return error_set(err, -ENOMEM, "out of memory");
	if (cache && symbols->index.symbol_count >= WORTH_KEEPING_SYMBOLS) {
		struct file_identity file = elf_identity(elf);

		disk_table_keep(cache, &file,
				&(struct disk_table_content){.index = &symbols->index,
							     .names = (const char *)list.names.data,
							     .names_bytes = list.names.size,
							     .named = symbols->named});
	}
	symbols->names = (char *)scope_take(&list.names.data);
	*ret = scope_take(&symbols);
	return 0;
}

int elf_symbols_read(struct elf_file *elf, struct elf_symbols **ret, struct error *err)
{
	return build(elf, true, NULL, ret, err);
}

int elf_symbols_read_plain(struct elf_file *elf, struct elf_symbols **ret, struct error *err)
{
	return build(elf, false, NULL, ret, err);
}

/* Replaces the table by the one on disk, if there is one. */
static int use_disk(struct cache_dir *cache, const struct file_identity *file,
		    struct elf_symbols **symbols)
{
	struct disk_table *disk = disk_table_open(cache, file);
	struct elf_symbols *fresh = disk ? calloc(1, sizeof(*fresh)) : NULL;

	if (!fresh) {
		disk_table_close(disk);
		return -ENOENT;
	}
	fresh->disk = disk;
	elf_symbols_free(*symbols);
	*symbols = fresh;
	return 0;
}

int elf_symbols_read_cached(struct elf_file *elf, struct cache_dir *cache, struct elf_symbols **ret,
			    struct error *err)
{
	struct file_identity file = elf_identity(elf);
	int r;

	*ret = NULL;
	if (cache && use_disk(cache, &file, ret) == 0)
		return 0;
	r = build(elf, true, cache, ret, err);
	if (r == 0 && cache && (*ret)->index.symbol_count >= WORTH_KEEPING_SYMBOLS)
		(void)use_disk(cache, &file, ret); /* else it stays in memory */
	return r;
}

uint32_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->disk ? disk_table_count(symbols->disk) : symbols->index.symbol_count;
}

bool elf_symbols_have_names(const struct elf_symbols *symbols)
{
	return symbols->disk ? disk_table_is_named(symbols->disk) : symbols->named;
}

uint32_t elf_symbols_find(const struct elf_symbols *symbols, uint64_t vaddr)
{
	return symbols->disk ? disk_table_find(symbols->disk, vaddr)
			     : symbol_index_find(&symbols->index, vaddr);
}

struct elf_symbol elf_symbols_at(const struct elf_symbols *symbols, uint32_t i)
{
	const struct indexed_symbol *symbol;
	struct elf_symbol found;

	if (symbols->disk) {
		found.name = disk_table_at(symbols->disk, i, &found.start, &found.size);
		return found;
	}
	symbol = &symbols->index.symbols[i];
	return (struct elf_symbol){symbols->names + symbol->name, symbol->start, symbol->size};
}
