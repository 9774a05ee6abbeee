/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "language/python/layout.h"
#include "language/python/text.h"
#include "unwind/python_walk.h"

/* Members of bytes, the same in all versions. */
#define LENGTH 16u
#define BYTES_DATA 32u

#define NO_LINE (-128)

static uint64_t word_at(const uint8_t *bytes, size_t place)
{
	uint64_t word;

	memcpy(&word, bytes + place, sizeof(word));
	return word;
}

static uint32_t half_at(const uint8_t *bytes, size_t place)
{
	uint32_t half;

	memcpy(&half, bytes + place, sizeof(half));
	return half;
}

static bool read_bytes(const struct python_reader *reader, uint64_t address, void *ret, size_t size)
{
	return reader->read(reader->context, address, ret, (uint32_t)size);
}

static int read_lines(const struct python_reader *reader, uint64_t address, struct python_code *ret)
{
	uint64_t size;

	if (!python_read_word(reader, address + LENGTH, &size))
		return -EFAULT;
	if (size > PYTHON_LINES_MAX)
		return -EINVAL;
	ret->lines = malloc(size + 1);
	if (!ret->lines)
		return -ENOMEM;
	ret->line_bytes = size;
	return size == 0 || read_bytes(reader, address + BYTES_DATA, ret->lines, size) ? 0
										       : -EFAULT;
}

int python_code_key(const struct python_code_layout *layout, const struct python_reader *reader,
		    uint64_t address, struct python_code_key *ret)
{
	uint8_t head[PYTHON_CODE_HEAD];
	size_t size = layout->lines + 8u;

	if (size > sizeof(head) || !read_bytes(reader, address, head, size))
		return -EFAULT;
	*ret = (struct python_code_key){
		.name = word_at(head, layout->name),
		.file = word_at(head, layout->file),
		.lines = word_at(head, layout->lines),
		.first_line = half_at(head, layout->first_line),
	};
	return 0;
}

int python_code_read(const struct python_code_layout *layout, const struct python_reader *reader,
		     const struct python_code_key *key, struct python_code *ret)
{
	struct python_code code = {.first_line = (uint32_t)key->first_line,
				   .line_format = layout->line_format};
	int r;

	*ret = code;
	if (key->name == 0 || key->file == 0)
		return 0; /* pushed by the interpreter, without a function */
	r = python_text_read(layout, reader, key->name, PYTHON_NAME_MAX, &code.name);
	if (r == 0)
		r = python_text_read(layout, reader, key->file, PYTHON_FILE_MAX, &code.file);
	if (r == 0 && key->lines != 0)
		r = read_lines(reader, key->lines, &code);
	if (r < 0) {
		python_code_fini(&code);
		return r;
	}
	*ret = code;
	return 0;
}

void python_code_fini(struct python_code *code)
{
	free(code->name);
	free(code->file);
	free(code->lines);
	*code = (struct python_code){0};
}

/* Pairs of bytes: of code, and of lines, which apply after them. */
static int64_t line_3_9(const struct python_code *code, uint64_t target)
{
	int64_t line = code->first_line;
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < code->line_bytes; i += 2) {
		at += code->lines[i];
		if (at > target)
			break;
		line += (int8_t)code->lines[i + 1];
	}
	return line;
}

/* Pairs of bytes: of code, and of lines, which apply to them. */
static int64_t line_3_10(const struct python_code *code, uint64_t target)
{
	int64_t line = code->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < code->line_bytes; i += 2) {
		int8_t step = (int8_t)code->lines[i + 1];

		end += code->lines[i];
		if (step != NO_LINE)
			line += step;
		if (target < end)
			break;
	}
	return line;
}

/* Six bits in each byte, the lowest first; the seventh says that another follows. */
static uint64_t location_number(const struct python_code *code, size_t *at)
{
	unsigned int shift = 0;
	uint64_t number = 0;
	uint8_t byte;

	do {
		if (*at >= code->line_bytes)
			return 0;
		byte = code->lines[(*at)++];
		if (shift < 60)
			number |= (uint64_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return number;
}

/* Kinds of entries, see line_3_11(). */
#define LOCATION_ONE_LINE 10u /* and two more */
#define LOCATION_NO_COLUMN 13u
#define LOCATION_LONG 14u

/*
 * Entries of a byte, with a kind and the number of instructions, and of what follows it: lines
 * relative to the previous entry, and columns, which do not matter here. No other byte of an entry
 * has its highest bit set.
 */
static int64_t line_3_11(const struct python_code *code, uint64_t target)
{
	int64_t line = code->first_line;
	uint64_t end = 0;
	size_t at = 0;

	while (at < code->line_bytes) {
		uint8_t head = code->lines[at++];
		unsigned int kind = head >> 3 & 15u;

		if (kind == LOCATION_NO_COLUMN || kind == LOCATION_LONG) {
			uint64_t number = location_number(code, &at);

			line += number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
		} else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMN) {
			line += kind - LOCATION_ONE_LINE;
		}
		while (at < code->line_bytes && !(code->lines[at] & 0x80))
			at++;
		end += (head & 7u) + 1u;
		if (target < end)
			break;
	}
	return line;
}

uint32_t python_code_line(const struct python_code *code, uint32_t index)
{
	int64_t line;

	if (index == PYTHON_INDEX_MAX || !code->lines)
		return code->first_line;
	if (code->line_format == PYTHON_LINES_3_11)
		line = line_3_11(code, index);
	else if (code->line_format == PYTHON_LINES_3_10)
		line = line_3_10(code, (uint64_t)index * 2);
	else
		line = line_3_9(code, (uint64_t)index * 2);
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}
