/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/frame_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#include "base/scope.h"
#include "cfi/frames.h"
#include "elf/elf.h"
#include "symbol/symbol_index.h"

/* The same limit as for unwinding: the largest known is 60 MB. */
#define MAX_SECTION_BYTES (128ull << 20)
#define MAX_CODE_SECTIONS 64

static void scope_release_reader(struct frame_reader **reader)
{
	frame_reader_free(*reader);
}

static uint64_t address_of(const struct elf_file *elf, const char *name)
{
	const struct elf_section *section = elf_section_find(elf, name);

	return section ? section->addr : 0;
}

/* The sections of code: few, so that searching them is cheap. */
struct code {
	const struct elf_section *sections[MAX_CODE_SECTIONS];
	size_t count;
	size_t last; /* where the last function was: nearly always the next one's, too */
};

static void find_code(const struct elf_file *elf, struct code *code)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

	for (size_t i = 0; i < elf_section_count(elf) && code->count < MAX_CODE_SECTIONS; i++) {
		const struct elf_section *section = elf_section_at(elf, i);

		if ((section->flags & wanted) == wanted &&
		    section->size <= UINT64_MAX - section->addr)
			code->sections[code->count++] = section;
	}
}

static bool holds(const struct elf_section *section, const struct frame_fde *fde)
{
	uint64_t offset = fde->start - section->addr;

	return fde->start >= section->addr && offset < section->size &&
	       fde->size <= section->size - offset;
}

static int add_function(struct symbol_list *list, const struct frame_fde *fde, struct code *code)
{
	size_t i = code->last;

	if (code->count == 0 || fde->size == 0)
		return 0;
	if (!holds(code->sections[i], fde))
		for (i = 0; i < code->count && !holds(code->sections[i], fde);)
			i++;
	if (i == code->count)
		return 0;
	code->last = i;
	return vec_push(&list->items, (struct symbol_candidate){.start = fde->start,
								.size = fde->size,
								.kind = KIND_START,
								.binding = BINDING_LOCAL,
								.is_sized = true});
}

int frame_functions_add(struct elf_file *elf, struct symbol_list *list)
{
	const struct elf_section *section = elf_section_find(elf, ".eh_frame");
	SCOPED(reader) struct frame_reader *reader = NULL;
	SCOPED(mem) void *data = NULL;
	struct code code = {0};
	struct frame_section frames = {.is_eh = true};
	struct frame_fde fde;
	int r;

	/* A separate debug file has the header of .eh_frame without its bytes. */
	if (!section || section->type == SHT_NOBITS || section->size == 0 ||
	    section->size > MAX_SECTION_BYTES || (section->flags & SHF_COMPRESSED) ||
	    elf_section_read(elf, section, &data, &frames.size, NULL) < 0)
		return 0;
	frames.data = data;
	frames.vaddr = section->addr;
	frames.text_vaddr = address_of(elf, ".text");
	frames.data_vaddr = address_of(elf, ".got");
	find_code(elf, &code);
	reader = frame_reader_new(&frames);
	if (!reader)
		return -ENOMEM;
	while ((r = frame_reader_next(reader, &fde)) > 0)
		if (add_function(list, &fde, &code) < 0)
			return -ENOMEM;
	return r;
}
