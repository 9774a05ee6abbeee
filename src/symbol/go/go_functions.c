/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go/go_functions.h"

#include <errno.h>

#include "base/scope.h"
#include "base/vec.h"
#include "cfi/go/go_table.h"
#include "symbol/symbol_index.h"

int go_functions_parse(const void *data, size_t size, uint64_t text_vaddr, uint64_t text_size,
		       struct symbol_list *list)
{
	struct go_table table;

	if (!go_table_init(&table, data, size, text_vaddr))
		return 0;
	for (uint64_t i = 0; i < table.count; i++) {
		uint64_t start = go_table_start(&table, i);
		uint64_t end = go_table_start(&table, i + 1);
		const char *name = go_table_name(&table, i);
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
	SCOPED(mem) void *data = NULL;
	uint64_t text, text_size;
	size_t size = 0;

	if (go_table_read(elf, &data, &size, &text, &text_size) < 0)
		return 0;
	return go_functions_parse(data, size, text, text_size, list);
}
