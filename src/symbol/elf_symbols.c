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
#include "symbol/address_sort.h"

/*
 * Symbols may lie inside each other. They are flattened into pieces that do
 * not overlap, each with its owner, so that one binary search answers:
 *
 *	symbols   outer [0x10, 0x50)   inner [0x20, 0x30)   next [0x60, 0x70)
 *	pieces    0x10 outer   0x20 inner   0x30 outer   0x60 next
 *
 * A piece ends where the next one starts or where its owner ends.
 */

#define MAX_SYMBOLS (1u << 26)

/* Order of preference: the lower value wins. */
enum kind_rank { RANK_FUNCTION, RANK_IFUNC, RANK_UNTYPED };
enum binding_rank { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL };

struct candidate {
	uint64_t start;
	uint64_t size; /* of a sizeless one: up to the end of its section */
	uint32_t name;
	uint8_t kind;
	uint8_t binding;
	bool is_sized;
};

struct kept {
	uint64_t start;
	uint64_t size;
	uint32_t name;
};

struct elf_symbols {
	char *names; /* string tables one after the other, each ended by NUL */
	size_t names_size;
	struct kept *symbols;
	uint32_t symbol_count;
	uint64_t *piece_starts;
	uint32_t *piece_owners;
	size_t piece_count;
};

/* What is needed while the table is built only. */
struct build {
	VEC(struct candidate) candidates;
	VEC(struct address_ref) order;
	VEC(struct kept) kept;
	VEC(uint64_t) starts;
	VEC(uint32_t) owners;
	VEC(uint32_t) open; /* kept symbols that are not over yet, innermost last */
};

static void scope_release_build(struct build *build)
{
	vec_fini(&build->candidates);
	vec_fini(&build->order);
	vec_fini(&build->kept);
	vec_fini(&build->starts);
	vec_fini(&build->owners);
	vec_fini(&build->open);
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
	free(symbols->symbols);
	free(symbols->piece_starts);
	free(symbols->piece_owners);
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

/* The section of code that the symbol lies in, NULL when there is none. */
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
		return RANK_FUNCTION;
	case STT_GNU_IFUNC:
		return RANK_IFUNC; /* its address is the resolver, which may have a name */
	case STT_NOTYPE:
		return RANK_UNTYPED;
	default:
		return -1;
	}
}

static uint8_t binding_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return RANK_LOCAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_GLOBAL;
	}
}

static int add_candidate(struct build *build, const struct elf_file *elf, const Elf64_Sym *symbol,
			 const char *names, uint32_t name)
{
	const struct elf_section *section;
	int kind = kind_of(symbol);
	uint64_t room;
	bool is_sized;

	if (kind < 0 || names[name] == '\0')
		return 0;
	if (kind == RANK_UNTYPED && (is_mapping_symbol(names + name) || is_label(names + name)))
		return 0;
	section = section_of(elf, symbol, kind != RANK_UNTYPED);
	if (!section)
		return 0;
	room = section->addr + section->size - symbol->st_value;
	is_sized = symbol->st_size > 0;
	return vec_push(&build->candidates,
			(struct candidate){
				.start = symbol->st_value,
				.size = is_sized && symbol->st_size < room ? symbol->st_size : room,
				.is_sized = is_sized,
				.name = name,
				.kind = (uint8_t)kind,
				.binding = binding_of(symbol),
			});
}

/* Appends the string table to the names and tells where it begins. */
static int append_names(struct elf_symbols *symbols, struct elf_file *elf,
			const struct elf_section *strings, size_t *ret_base)
{
	char *grown;
	int r;

	/* Before anything is allocated: the size may be a lie. */
	if (!elf_section_is_readable(elf, strings))
		return -ERANGE;
	grown = realloc(symbols->names, symbols->names_size + strings->size + 1);
	if (!grown)
		return -ENOMEM;
	symbols->names = grown;
	grown += symbols->names_size;
	r = elf_read_at(elf, strings->offset, grown, strings->size);
	if (r < 0)
		return r;
	grown[strings->size] = '\0';
	*ret_base = symbols->names_size;
	symbols->names_size += strings->size + 1; /* at most 1 GiB each: fits 32 bits */
	return 0;
}

static int read_table(struct build *build, struct elf_symbols *symbols, struct elf_file *elf,
		      const struct elf_section *section, struct error *err)
{
	const struct elf_section *strings = elf_section_at(elf, section->link);
	SCOPED(mem) void *data = NULL;
	const Elf64_Sym *table;
	size_t size = 0;
	size_t base = 0;
	int r;

	/* A separate debug file names its .dynsym without having it. */
	if (!strings || strings->type != SHT_STRTAB || section->type == SHT_NOBITS)
		return 0;
	r = elf_section_read(elf, section, &data, &size, err);
	if (r < 0)
		return r;
	if (size / sizeof(*table) > MAX_SYMBOLS)
		return error_set(err, -EFBIG, "%s has too many symbols", section->name);
	r = append_names(symbols, elf, strings, &base);
	if (r < 0)
		return error_errno(err, r, "the names of %s", section->name);
	table = data;
	if (vec_reserve(&build->candidates, build->candidates.count + size / sizeof(*table)) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < size / sizeof(*table); i++) {
		if (table[i].st_name >= symbols->names_size - base)
			continue;
		if (add_candidate(build, elf, &table[i], symbols->names,
				  (uint32_t)(base + table[i].st_name)) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int compare_names(const char *a, const char *b)
{
	size_t underscores_a, underscores_b;
	size_t length_a, length_b;

	if (strcmp(a, b) == 0)
		return 0; /* the usual case: one symbol in both tables */
	underscores_a = strspn(a, "_");
	underscores_b = strspn(b, "_");
	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = strlen(a);
	length_b = strlen(b);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strcmp(a, b);
}

struct sort_context {
	const struct candidate *candidates;
	const char *names;
};

/* Best first among candidates of one address. */
static int compare_aliases(const void *left, const void *right, void *argument)
{
	const struct sort_context *context = argument;
	const struct candidate *a = &context->candidates[((const struct address_ref *)left)->index];
	const struct candidate *b =
		&context->candidates[((const struct address_ref *)right)->index];
	int r;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->is_sized != b->is_sized)
		return a->is_sized ? -1 : 1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	r = compare_names(context->names + a->name, context->names + b->name);
	if (r != 0)
		return r;
	return (a->size < b->size) - (a->size > b->size);
}

/* Puts the candidates of one address in order, best first. */
static void sort_group(struct address_ref *refs, size_t count, struct sort_context *context)
{
	struct address_ref swap = refs[0];

	if (count > 2) {
		qsort_r(refs, count, sizeof(*refs), compare_aliases, context);
		return;
	}
	if (count == 2 && compare_aliases(&refs[0], &refs[1], context) > 0) {
		refs[0] = refs[1];
		refs[1] = swap;
	}
}

static int push_piece(struct build *build, uint64_t start, uint32_t owner)
{
	if (build->starts.count && build->starts.items[build->starts.count - 1] == start) {
		build->owners.items[build->owners.count - 1] = owner;
		return 0;
	}
	if (vec_push(&build->starts, start) < 0 || vec_push(&build->owners, owner) < 0)
		return -ENOMEM;
	return 0;
}

/* Ends the open symbols that are over before address; what is around them goes on. */
static int close_until(struct build *build, uint64_t address)
{
	while (build->open.count) {
		const struct kept *top =
			&build->kept.items[build->open.items[build->open.count - 1]];
		uint64_t end = top->start + top->size;

		if (end > address)
			return 0;
		build->open.count--;
		while (build->open.count) {
			uint32_t outer = build->open.items[build->open.count - 1];

			if (build->kept.items[outer].start + build->kept.items[outer].size > end) {
				if (push_piece(build, end, outer) < 0)
					return -ENOMEM;
				break;
			}
			build->open.count--;
		}
	}
	return 0;
}

static int open_symbol(struct build *build, const struct candidate *candidate, uint64_t size)
{
	uint32_t index = (uint32_t)build->kept.count;

	if (vec_push(&build->kept, (struct kept){candidate->start, size, candidate->name}) < 0 ||
	    vec_push(&build->open, index) < 0)
		return -ENOMEM;
	return push_piece(build, candidate->start, index);
}

/*
 * Opens the symbols of one address, refs[0..count) best first. Those that reach
 * no further than a better one are aliases and go; the longest is opened first
 * so that the best ends up innermost.
 */
static int open_group(struct build *build, struct address_ref *refs, size_t count, uint64_t next)
{
	const struct candidate *candidates = build->candidates.items;
	const struct candidate *best = &candidates[refs[0].index];
	uint64_t reach = 0;
	size_t used = 0;

	if ((!best->is_sized || best->kind == RANK_UNTYPED) && build->open.count)
		return 0; /* inside something else it is a label */
	if (!best->is_sized) {
		uint64_t room = next - best->start;

		return open_symbol(build, best, room < best->size ? room : best->size);
	}
	for (size_t i = 0; i < count; i++) {
		if (!candidates[refs[i].index].is_sized || candidates[refs[i].index].size <= reach)
			continue;
		reach = candidates[refs[i].index].size;
		refs[used++] = refs[i];
	}
	while (used-- > 0) {
		const struct candidate *candidate = &candidates[refs[used].index];

		if (open_symbol(build, candidate, candidate->size) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int flatten(struct build *build, const char *names)
{
	struct sort_context context = {build->candidates.items, names};
	struct address_ref *refs = build->order.items;
	size_t count = build->order.count;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		uint64_t next;

		for (n = 1; i + n < count && refs[i + n].address == refs[i].address;)
			n++;
		next = i + n < count ? refs[i + n].address : UINT64_MAX;
		sort_group(refs + i, n, &context);
		if (close_until(build, refs[i].address) < 0 ||
		    open_group(build, refs + i, n, next) < 0)
			return -ENOMEM;
	}
	return close_until(build, UINT64_MAX);
}

/* Gives back the room that a vector grew in advance. */
static void *take_trimmed(void *items, size_t count, size_t item_bytes)
{
	void *trimmed = count ? realloc(items, count * item_bytes) : NULL;

	return trimmed ? trimmed : items;
}

static int build_index(struct build *build, struct elf_symbols *symbols)
{
	/* Room that stays untouched costs nothing; growing in steps would. */
	if (vec_reserve(&build->order, build->candidates.count) < 0 ||
	    vec_reserve(&build->kept, build->candidates.count) < 0 ||
	    vec_reserve(&build->starts, build->candidates.count) < 0 ||
	    vec_reserve(&build->owners, build->candidates.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < build->candidates.count; i++)
		build->order.items[i] =
			(struct address_ref){build->candidates.items[i].start, (uint32_t)i};
	build->order.count = build->candidates.count;
	if (address_sort(build->order.items, build->order.count) < 0)
		return -ENOMEM;
	if (flatten(build, symbols->names) < 0)
		return -ENOMEM;
	symbols->symbol_count = (uint32_t)build->kept.count;
	symbols->piece_count = build->starts.count;
	symbols->symbols =
		take_trimmed(build->kept.items, symbols->symbol_count, sizeof(*symbols->symbols));
	build->kept.items = NULL;
	symbols->piece_starts = take_trimmed(build->starts.items, symbols->piece_count,
					     sizeof(*symbols->piece_starts));
	build->starts.items = NULL;
	symbols->piece_owners = take_trimmed(build->owners.items, symbols->piece_count,
					     sizeof(*symbols->piece_owners));
	build->owners.items = NULL;
	return 0;
}

static int read_tables(struct build *build, struct elf_symbols *symbols, struct elf_file *elf,
		       struct error *err)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};

	/* In objects that are not linked yet, addresses start anew in each section. */
	if (elf_type(elf) == ET_REL)
		return 0;
	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		for (size_t i = 0; i < elf_section_count(elf); i++) {
			const struct elf_section *section = elf_section_at(elf, i);
			int r;

			if (section->type != types[t])
				continue;
			r = read_table(build, symbols, elf, section, err);
			if (r < 0)
				return r;
			break; /* a file has one of each */
		}
	}
	return 0;
}

int elf_symbols_read(struct elf_file *elf, struct elf_symbols **ret, struct error *err)
{
	SCOPED(elf_symbols) struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
	SCOPED(build) struct build build = {0};
	int r;

	if (!symbols)
		return error_set(err, -ENOMEM, "out of memory");
	r = read_tables(&build, symbols, elf, err);
	if (r < 0)
		return r;
	r = build_index(&build, symbols);
	if (r < 0)
		return error_set(err, r, "out of memory");
	*ret = scope_take(&symbols);
	return 0;
}

uint32_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->symbol_count;
}

uint32_t elf_symbols_find(const struct elf_symbols *symbols, uint64_t vaddr)
{
	size_t i = address_upper_bound(symbols->piece_starts, symbols->piece_count, vaddr);
	const struct kept *symbol;

	if (i == 0)
		return ELF_SYMBOL_NONE;
	symbol = &symbols->symbols[symbols->piece_owners[i - 1]];
	if (vaddr - symbol->start >= symbol->size)
		return ELF_SYMBOL_NONE;
	return symbols->piece_owners[i - 1];
}

struct elf_symbol elf_symbols_at(const struct elf_symbols *symbols, uint32_t i)
{
	const struct kept *symbol = &symbols->symbols[i];

	return (struct elf_symbol){symbols->names + symbol->name, symbol->start, symbol->size};
}
