/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go/go_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "cfi/go/go_table.h"
#include "elf/elf.h"

struct go_lines {
	struct elf_file *elf; /* until it is read */
	void *data;
	struct go_table table; /* count 0: unusable */
};

struct go_lines *go_lines_new(struct elf_file **elf)
{
	struct go_lines *lines;

	if (!elf_section_find(*elf, ".gopclntab") &&
	    !elf_section_find(*elf, ".data.rel.ro.gopclntab"))
		return NULL;
	lines = calloc(1, sizeof(*lines));
	if (lines)
		lines->elf = scope_take(elf);
	return lines;
}

void go_lines_free(struct go_lines *lines)
{
	if (!lines)
		return;
	elf_close(lines->elf);
	free(lines->data);
	free(lines);
}

/* The value in a table at a distance from the function's start. */
static bool value_at(const struct go_table *table, uint32_t offset, uint64_t distance, int64_t *ret)
{
	struct go_values values = go_values_of(table, offset);

	while (go_values_next(&values)) {
		if (distance < values.end) {
			*ret = values.value;
			return true;
		}
	}
	return false;
}

/* The last function that starts at or below vaddr; count without one. */
static uint64_t find_function(const struct go_table *table, uint64_t vaddr)
{
	uint64_t low = 0, high = table->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (go_table_start(table, middle) <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 || vaddr >= go_table_start(table, low) ? table->count : low - 1;
}

/* The number of a file plus unit is an index in the units, which have the offset of its text. */
static const char *file_text(const struct go_table *table, uint32_t unit, int64_t number)
{
	uint64_t room = table->units < table->size ? table->size - table->units : 0;
	uint64_t i = (uint64_t)unit + (uint64_t)number;
	uint32_t offset;

	if (number < 0 || number > INT32_MAX || i >= room / sizeof(offset))
		return NULL;
	memcpy(&offset, table->data + table->units + i * sizeof(offset), sizeof(offset));
	return offset == UINT32_MAX ? NULL : go_table_text(table, table->files, offset);
}

static bool find(const struct go_table *table, uint64_t vaddr, const char **ret_file,
		 uint32_t *ret_line)
{
	uint64_t i = find_function(table, vaddr);
	const uint8_t *tables, *unit_at;
	uint32_t offsets[2], unit; /* of the file and line tables */
	int64_t file, line;
	uint64_t distance;

	if (i == table->count)
		return false;
	distance = vaddr - go_table_start(table, i);
	tables = go_table_function(table, i, table->word_bytes + GO_FUNCTION_FILE, sizeof(offsets));
	unit_at = go_table_function(table, i, table->word_bytes + GO_FUNCTION_UNIT, sizeof(unit));
	if (!tables || !unit_at)
		return false;
	memcpy(offsets, tables, sizeof(offsets));
	memcpy(&unit, unit_at, sizeof(unit));
	if (!value_at(table, offsets[0], distance, &file) ||
	    !value_at(table, offsets[1], distance, &line) || line <= 0 || line > INT32_MAX)
		return false;
	*ret_file = file_text(table, unit, file);
	*ret_line = (uint32_t)line;
	return *ret_file != NULL;
}

bool go_lines_find(struct go_lines *lines, uint64_t vaddr, const char **ret_file,
		   uint32_t *ret_line)
{
	uint64_t text, text_size;
	size_t size;

	if (lines->elf) {
		if (go_table_read(lines->elf, &lines->data, &size, &text, &text_size) < 0 ||
		    !go_table_init(&lines->table, lines->data, size, text))
			lines->table.count = 0;
		elf_close(lines->elf);
		lines->elf = NULL;
	}
	return lines->table.count > 0 && find(&lines->table, vaddr, ret_file, ret_line);
}

bool go_lines_parse(const void *data, size_t size, uint64_t text_vaddr, uint64_t vaddr,
		    const char **ret_file, uint32_t *ret_line)
{
	struct go_table table;

	return go_table_init(&table, data, size, text_vaddr) && table.count > 0 &&
	       find(&table, vaddr, ret_file, ret_line);
}
