/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/sizeless_symbols.h"

#include <errno.h>
#include <stdint.h>

#include "base/vec.h"
#include "cfi/code_end.h"
#include "cfi/text_window.h"
#include "elf/elf.h"
#include "symbol/address_sort.h"
#include "symbol/symbol_index.h"

/* The largest assembler functions have 20 KB. */
#define MAX_FUNCTION_BYTES (64u << 10)
/* Symbols of a hostile file may all share their code. */
#define MAX_DECODED_BYTES (256ull << 20)

typedef VEC(struct address_ref) ref_list;

static int find_sizeless(const struct symbol_list *list, ref_list *ret)
{
	for (size_t i = 0; i < list->items.count; i++) {
		const struct symbol_candidate *candidate = &list->items.items[i];

		if (!candidate->is_sized &&
		    vec_push(ret, (struct address_ref){candidate->start, (uint32_t)i}) < 0)
			return -ENOMEM;
	}
	return address_sort(ret->items, ret->count);
}

/* The size of the code at an address; 0 when unknown. */
static uint64_t measure(struct text_window *window, uint64_t vaddr, uint64_t room)
{
	const uint8_t *code;

	if (room > MAX_FUNCTION_BYTES)
		room = MAX_FUNCTION_BYTES;
	code = text_window_get(window, vaddr, room);
	return code ? code_end_find(elf_machine(window->elf), code, room) : 0;
}

static void bound(struct text_window *window, struct symbol_list *list, const ref_list *refs)
{
	uint64_t decoded = 0;
	uint64_t size = 0;

	for (size_t i = 0; i < refs->count; i++) {
		struct symbol_candidate *candidate = &list->items.items[refs->items[i].index];

		if (i == 0 || refs->items[i - 1].address != refs->items[i].address)
			size = decoded < MAX_DECODED_BYTES
				       ? measure(window, candidate->start, candidate->size)
				       : 0;
		decoded += size;
		if (size > 0 && size < candidate->size)
			candidate->size = size;
	}
}

int sizeless_symbols_bound(struct elf_file *elf, struct symbol_list *list)
{
	struct text_window window = {0};
	ref_list refs = {0};
	int r = find_sizeless(list, &refs);

	if (r == 0 && refs.count > 0)
		r = text_window_init(&window, elf);
	if (r == 0 && refs.count > 0)
		bound(&window, list, &refs);
	text_window_fini(&window);
	vec_fini(&refs);
	return r;
}
