/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the table of functions and lines of Go programs with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/go_functions.h"
#include "symbol/go_lines.h"
#include "symbol/symbol_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT 0x401000ull
#define TEXT_SIZE 0x1000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_list list = {0};

	if (go_functions_parse(data, size, TEXT, TEXT_SIZE, &list) == 0)
		for (size_t i = 0; i < list.items.count; i++)
			if (list.items.items[i].start < TEXT ||
			    list.items.items[i].start + list.items.items[i].size > TEXT + TEXT_SIZE)
				abort();
	for (uint64_t at = 0; at < TEXT_SIZE; at += 4) {
		const char *file;
		uint32_t line;

		if (go_lines_parse(data, size, TEXT, TEXT + at, &file, &line) &&
		    (strlen(file) == 0 || line == 0))
			abort();
	}
	symbol_list_fini(&list);
	return 0;
}
