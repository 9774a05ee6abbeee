/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/plt_symbols.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "elf/elf.h"
#include "symbol/symbol_index.h"

/*
 * x86-64, 16 bytes each, or 8 in .plt.got; with branch tracking an endbr64 comes first and the jump
 * through the slot is in .plt.sec:
 *
 *	ff 25 <slot - next>   jmp *slot(%rip)      68 <n>   push the number of the relocation
 *
 * aarch64, 16 or 24 bytes each, after 32 bytes of .plt that call the resolver:
 *
 *	[bti c]   adrp x16, page   ldr x17, [x16, #low]   add x16, …   [autia1716]   br x17
 */

#define MAX_PLT_BYTES (16ull << 20)
#define MAX_RELOCATION_BYTES (256ull << 20)
#define X64_ENTRY_BYTES 16u
#define X64_SHORT_ENTRY_BYTES 8u
#define X64_JUMP_BYTES 6u
#define A64_ENTRY_BYTES 24u
#define WORD_BYTES 4u
#define NO_SYMBOL UINT32_MAX

/* A slot of the global offset table and what fills it. */
struct slot {
	uint64_t address;
	uint64_t resolver; /* of an ifunc */
	uint32_t name;     /* in the list; 0: unknown */
	uint32_t number;   /* of the relocation in .rela.plt; NO_SYMBOL: in another section */
	uint32_t chooser;  /* candidate at the resolver; NO_SYMBOL: none */
};

struct plt {
	struct elf_file *elf;
	struct symbol_list *list;
	VEC(struct slot) slots; /* by address once sorted */
	VEC(uint32_t) numbered; /* indices of slots, by number */
};

static void scope_release_plt(struct plt *plt)
{
	vec_fini(&plt->slots);
	vec_fini(&plt->numbered);
}

/* A symbol table and its strings, through which relocations name functions. */
struct linked {
	Elf64_Sym *symbols;
	size_t symbol_count;
	char *names;
	size_t names_size;
};

static void scope_release_linked(struct linked *linked)
{
	free(linked->symbols);
	free(linked->names);
}

/* Leaves it empty for a file without such a table: even a static program has ifuncs. */
static void read_linked(struct elf_file *elf, uint32_t index, struct linked *linked)
{
	const struct elf_section *symbols = elf_section_at(elf, index);
	const struct elf_section *names = symbols ? elf_section_at(elf, symbols->link) : NULL;
	void *data = NULL;
	size_t size = 0;

	if (!names || index == 0 || symbols->type != SHT_DYNSYM || names->type != SHT_STRTAB)
		return;
	if (elf_section_read(elf, symbols, &data, &size, NULL) < 0)
		return;
	linked->symbols = data;
	data = NULL;
	if (elf_section_read(elf, names, &data, &linked->names_size, NULL) < 0)
		return;
	linked->names = data;
	linked->symbol_count = size / sizeof(*linked->symbols);
}

/* The name of a symbol, or NULL. */
static const char *linked_name(const struct linked *linked, uint64_t symbol)
{
	uint32_t at = symbol < linked->symbol_count ? linked->symbols[symbol].st_name : 0;

	if (at == 0 || at >= linked->names_size ||
	    !memchr(linked->names + at, '\0', linked->names_size - at))
		return NULL;
	return linked->names[at] ? linked->names + at : NULL;
}

static bool is_slot(uint16_t machine, uint64_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		       type == R_X86_64_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
	       type == R_AARCH64_IRELATIVE;
}

static int add_slot(struct plt *plt, const struct linked *linked, const Elf64_Rela *relocation,
		    uint32_t number)
{
	uint64_t type = ELF64_R_TYPE(relocation->r_info);
	const char *name = linked_name(linked, ELF64_R_SYM(relocation->r_info));
	struct slot slot = {
		.address = relocation->r_offset, .number = number, .chooser = NO_SYMBOL};

	if (!is_slot(elf_machine(plt->elf), type))
		return 0;
	if (type == R_X86_64_IRELATIVE || type == R_AARCH64_IRELATIVE)
		slot.resolver = (uint64_t)relocation->r_addend;
	else if (!name)
		return 0;
	else
		slot.name = symbol_list_name(plt->list, name, "@plt");
	return vec_push(&plt->slots, slot);
}

static int read_relocations(struct plt *plt, const char *name, bool numbered)
{
	const struct elf_section *section = elf_section_find(plt->elf, name);
	SCOPED(linked) struct linked linked = {0};
	SCOPED(mem) void *data = NULL;
	const Elf64_Rela *relocations;
	size_t size = 0;

	if (!section || section->type != SHT_RELA || section->size > MAX_RELOCATION_BYTES ||
	    elf_section_read(plt->elf, section, &data, &size, NULL) < 0)
		return 0;
	read_linked(plt->elf, section->link, &linked);
	relocations = data;
	for (size_t i = 0; i < size / sizeof(*relocations); i++)
		if (add_slot(plt, &linked, &relocations[i], numbered ? (uint32_t)i : NO_SYMBOL) < 0)
			return -ENOMEM;
	return 0;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left;
	const struct slot *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_resolvers(const void *left, const void *right)
{
	const struct slot *a = left;
	const struct slot *b = right;

	return (a->resolver > b->resolver) - (a->resolver < b->resolver);
}

/* Whether a symbol is a better name for an ifunc than the current one. */
static bool is_better(const struct symbol_list *list, const struct symbol_candidate *item,
		      uint32_t known)
{
	const struct symbol_candidate *other = &list->items.items[known];
	const char *names = (const char *)list->names.data;

	/* The ifunc's own name is that of the function; others name the resolver. */
	if ((item->kind == KIND_IFUNC) != (other->kind == KIND_IFUNC))
		return item->kind == KIND_IFUNC;
	return symbol_compare_names(names + item->name, names + other->name) < 0;
}

/* Finds the best symbol for each slot of an ifunc; slots are sorted by resolver. */
static void find_choosers(struct plt *plt, struct slot *slots, size_t count)
{
	for (size_t i = 0; i < plt->list->items.count; i++) {
		const struct symbol_candidate *item = &plt->list->items.items[i];
		struct slot wanted = {.resolver = item->start};
		struct slot *slot =
			bsearch(&wanted, slots, count, sizeof(*slots), compare_resolvers);

		if (slot && !slot->name &&
		    (slot->chooser == NO_SYMBOL || is_better(plt->list, item, slot->chooser)))
			slot->chooser = (uint32_t)i;
	}
}

static uint32_t make_chooser_name(struct plt *plt, const struct slot *slot)
{
	const char *names = (const char *)plt->list->names.data;
	SCOPED(mem) char *plain = NULL;
	char text[64];

	if (slot->chooser == NO_SYMBOL) {
		(void)snprintf(text, sizeof(text), "*ABS*+0x%" PRIx64, slot->resolver);
		return symbol_list_name(plt->list, text, "@plt");
	}
	names += plt->list->items.items[slot->chooser].name;
	plain = strndup(names, strcspn(names, "@"));
	return plain ? symbol_list_name(plt->list, plain, "@plt") : 0;
}

/* Names the slots of ifuncs by the symbol at the resolver. */
static void name_ifuncs(struct plt *plt)
{
	struct slot *slots = plt->slots.items;
	size_t count = plt->slots.count;

	qsort(slots, count, sizeof(*slots), compare_resolvers);
	find_choosers(plt, slots, count);
	for (size_t i = 0; i < count; i++) {
		if (slots[i].name)
			continue;
		/* Of several slots with one resolver, the search may have found any. */
		if (i > 0 && slots[i].chooser == NO_SYMBOL &&
		    slots[i].resolver == slots[i - 1].resolver)
			slots[i].name = slots[i - 1].name;
		else
			slots[i].name = make_chooser_name(plt, &slots[i]);
	}
}

static int index_numbers(struct plt *plt)
{
	uint32_t top = 0;

	for (size_t i = 0; i < plt->slots.count; i++)
		if (plt->slots.items[i].number != NO_SYMBOL && plt->slots.items[i].number >= top)
			top = plt->slots.items[i].number + 1;
	if (vec_reserve(&plt->numbered, top + 1u) < 0)
		return -ENOMEM;
	plt->numbered.count = top;
	memset(plt->numbered.items, 0xff, (top + 1u) * sizeof(*plt->numbered.items));
	for (size_t i = 0; i < plt->slots.count; i++)
		if (plt->slots.items[i].number != NO_SYMBOL)
			plt->numbered.items[plt->slots.items[i].number] = (uint32_t)i;
	return 0;
}

/* The name for a slot, or 0. */
static uint32_t name_of(const struct plt *plt, uint64_t address)
{
	struct slot wanted = {.address = address};
	const struct slot *slot =
		bsearch(&wanted, plt->slots.items, plt->slots.count, sizeof(wanted), compare_slots);

	return slot ? slot->name : 0;
}

static uint32_t name_of_number(const struct plt *plt, uint32_t number)
{
	if (number >= plt->numbered.count || plt->numbered.items[number] == NO_SYMBOL)
		return 0;
	return plt->slots.items[plt->numbered.items[number]].name;
}

static int add_entry(struct plt *plt, uint64_t start, uint64_t size, uint32_t name)
{
	return vec_push(&plt->list->items, (struct symbol_candidate){.start = start,
								     .size = size,
								     .name = name,
								     .kind = KIND_FUNCTION,
								     .binding = BINDING_LOCAL,
								     .is_sized = true});
}

/* The name of the x86-64 entry at address, 0 if it is another kind of code. */
static uint32_t read_x64(const struct plt *plt, const uint8_t *entry, size_t size, uint64_t address)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = size > sizeof(endbr64) && memcmp(entry, endbr64, sizeof(endbr64)) == 0
			    ? sizeof(endbr64)
			    : 0;
	int32_t operand;

	if (at + 1 < size && entry[at] == 0xf2) /* bnd */
		at++;
	if (size - at < X64_JUMP_BYTES)
		return 0;
	if (entry[at] == 0x68) {
		memcpy(&operand, entry + at + 1, sizeof(operand));
		return name_of_number(plt, (uint32_t)operand);
	}
	if (entry[at] != 0xff || entry[at + 1] != 0x25)
		return 0;
	memcpy(&operand, entry + at + 2, sizeof(operand));
	return name_of(plt, address + at + X64_JUMP_BYTES + (uint64_t)(int64_t)operand);
}

/*
 * Entries have 16 bytes, or 8 in .plt.got and in static programs, where the section does not say
 * so: the position of the next entry shows it.
 */
static int scan_x64(struct plt *plt, const struct elf_section *section, const uint8_t *data,
		    size_t size)
{
	size_t step;

	for (size_t at = 0; at + X64_SHORT_ENTRY_BYTES <= size; at += step) {
		size_t next = at + X64_SHORT_ENTRY_BYTES;
		uint32_t name = read_x64(plt, data + at, size - at, section->addr + at);

		step = X64_SHORT_ENTRY_BYTES;
		if (!name)
			continue;
		if (size - at >= X64_ENTRY_BYTES &&
		    (data[next] == 0x68 ||
		     !read_x64(plt, data + next, size - next, section->addr + next)))
			step = X64_ENTRY_BYTES;
		if (add_entry(plt, section->addr + at, step, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The slot that the two instructions at address load from, 0 if they do not. */
static uint64_t read_a64(const uint32_t *words, uint64_t address)
{
	uint64_t pages = ((words[0] >> 5 & 0x7ffff) << 2) | (words[0] >> 29 & 3);

	if ((words[0] & 0x9f00001f) != 0x90000010 || (words[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	if (pages & 1 << 20)
		pages |= ~0ull << 21;
	return (address & ~0xfffull) + (pages << 12) + ((words[1] >> 10 & 0xfff) << 3);
}

static int scan_a64(struct plt *plt, const struct elf_section *section, const uint8_t *data,
		    size_t size)
{
	const uint32_t bti_c = 0xd503245f;
	const uint32_t br_x17 = 0xd61f0220;
	size_t start = 0; /* where the next entry may start */

	for (size_t at = 0; at + 2 * WORD_BYTES <= size; at += WORD_BYTES) {
		uint32_t words[2];
		uint32_t name;
		size_t end = at + 2 * WORD_BYTES;

		memcpy(words, data + at, sizeof(words));
		if (words[0] == bti_c)
			start = at;
		name = name_of(plt, read_a64(words, section->addr + at));
		if (!name)
			continue;
		if (start + WORD_BYTES != at)
			start = at;
		while (end + WORD_BYTES <= size && end - start < A64_ENTRY_BYTES) {
			memcpy(words, data + end, WORD_BYTES);
			end += WORD_BYTES;
			if (words[0] == br_x17)
				break;
		}
		if (add_entry(plt, section->addr + start, end - start, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int scan(struct plt *plt, const char *name)
{
	const struct elf_section *section = elf_section_find(plt->elf, name);
	SCOPED(mem) void *data = NULL;
	size_t size = 0;

	if (!section || section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR) ||
	    section->size > MAX_PLT_BYTES || section->size > UINT64_MAX - section->addr ||
	    elf_section_read(plt->elf, section, &data, &size, NULL) < 0)
		return 0;
	return elf_machine(plt->elf) == EM_X86_64 ? scan_x64(plt, section, data, size)
						  : scan_a64(plt, section, data, size);
}

int plt_symbols_add(struct elf_file *elf, struct symbol_list *list)
{
	static const char *const tables[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	SCOPED(plt) struct plt plt = {.elf = elf, .list = list};

	if (elf_machine(elf) != EM_X86_64 && elf_machine(elf) != EM_AARCH64)
		return 0;
	if (read_relocations(&plt, ".rela.plt", true) < 0 ||
	    read_relocations(&plt, ".rela.iplt", false) < 0)
		return -ENOMEM;
	/* .rela.dyn may be large, and only this table needs it. */
	if (elf_section_find(elf, ".plt.got") && read_relocations(&plt, ".rela.dyn", false) < 0)
		return -ENOMEM;
	if (plt.slots.count == 0)
		return 0;
	name_ifuncs(&plt);
	qsort(plt.slots.items, plt.slots.count, sizeof(*plt.slots.items), compare_slots);
	if (index_numbers(&plt) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (scan(&plt, tables[i]) < 0)
			return -ENOMEM;
	return 0;
}
