/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/iseq.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "language/known_codes.h"
#include "language/ruby/layout.h"
#include "unwind/python_walk.h"

/* The first word of every object: */
#define KIND(flags) ((flags)&0x1fu)
#define KIND_STRING 0x05u
#define KIND_ARRAY 0x07u
#define KIND_INTERNAL 0x1au
#define INTERNAL_KIND(flags) ((flags) >> 12 & 0xfu)
#define INTERNAL_ISEQ 7u
/* Small strings and arrays are inside the object, from CONTENTS on. */
#define CONTENTS 16u
#define STRING_IS_OUTSIDE(flags) ((flags) >> 13 & 1u)
#define STRING_LENGTH(flags) ((flags) >> 14 & 0x1fu)
#define ARRAY_IS_INSIDE(flags) ((flags) >> 13 & 1u)

/*
 * Which instructions begin a line: ranks of the first FEW instructions, in words of nine numbers of
 * seven bits; then blocks of 512 bits, one for each instruction.
 */
#define FEW 54u
#define IN_A_WORD 9u
#define RANK_BITS 7u
#define BLOCK_BYTES 80u
#define BLOCK_HEAD 16u
#define BLOCK_BITS 512u

static bool read_bytes(const struct python_reader *reader, uint64_t address, void *ret, size_t size)
{
	return reader->read(reader->context, address, ret, (uint32_t)size);
}

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

/* Copies a string object. */
static int read_text(const struct python_reader *reader, uint64_t address, size_t most, char **ret)
{
	uint64_t object[4]; /* flags, class, and contents or length and address */
	uint64_t from = address + CONTENTS;
	uint64_t length;
	char *text;

	if (!read_bytes(reader, address, object, sizeof(object)))
		return -EFAULT;
	if (KIND(object[0]) != KIND_STRING)
		return -EINVAL;
	length = STRING_LENGTH(object[0]);
	if (STRING_IS_OUTSIDE(object[0])) {
		length = object[2];
		from = object[3];
	}
	if (length > most)
		length = most;
	text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	if (length > 0 && !read_bytes(reader, from, text, length)) {
		free(text);
		return -EFAULT;
	}
	for (uint64_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = '?';
	text[length] = '\0';
	*ret = text;
	return 0;
}

/* The path of a file is a string, or an array of it and the resolved path, which may be nil. */
static int read_path(const struct python_reader *reader, uint64_t address, char **ret)
{
	uint64_t object[4]; /* flags, class, and two items if they are inside */

	if (!read_bytes(reader, address, object, sizeof(object)))
		return -EFAULT;
	if (KIND(object[0]) != KIND_ARRAY)
		return read_text(reader, address, RUBY_FILE_MAX, ret);
	if (!ARRAY_IS_INSIDE(object[0]))
		return -EINVAL;
	if (read_text(reader, object[3], RUBY_FILE_MAX, ret) == 0)
		return 0;
	return read_text(reader, object[2], RUBY_FILE_MAX, ret);
}

static int read_body(const struct ruby_layout *layout, const struct python_reader *reader,
		     uint64_t address, uint8_t *ret, uint64_t *ret_address)
{
	uint64_t flags;

	if (layout->body_bytes > RUBY_BODY_BYTES || !python_read_word(reader, address, &flags) ||
	    !python_read_word(reader, address + layout->body, ret_address))
		return -EFAULT;
	if (KIND(flags) != KIND_INTERNAL || INTERNAL_KIND(flags) != INTERNAL_ISEQ)
		return -EINVAL;
	return read_bytes(reader, *ret_address, ret, layout->body_bytes) ? 0 : -EFAULT;
}

int ruby_iseq_key(const struct ruby_layout *layout, const struct python_reader *reader,
		  uint64_t address, struct code_key *ret)
{
	uint8_t body[RUBY_BODY_BYTES];
	uint64_t body_address;
	int r = read_body(layout, reader, address, body, &body_address);

	if (r < 0)
		return r;
	*ret = (struct code_key){{body_address, word_at(body, layout->code),
				  word_at(body, layout->path), word_at(body, layout->label),
				  word_at(body, layout->lines), word_at(body, layout->first_line)}};
	return 0;
}

/* Writes the index of each instruction that begins a line. Returns their number. */
static uint32_t decode_ranks(const uint8_t *table, uint32_t code_words, uint32_t most,
			     struct ruby_line *ret)
{
	uint32_t rank = 0;
	uint32_t i;

	for (i = 0; i < code_words && i < FEW; i++) {
		uint64_t word = word_at(table, i / IN_A_WORD * sizeof(word));
		uint32_t now = word >> (i % IN_A_WORD * RANK_BITS) & ((1u << RANK_BITS) - 1);

		if (now == rank + 1 && rank < most)
			ret[rank++].index = i;
	}
	for (; i < code_words; i++) {
		uint32_t bit = (i - FEW) % BLOCK_BITS;
		const uint8_t *block = table + FEW / IN_A_WORD * sizeof(uint64_t) +
				       (size_t)((i - FEW) / BLOCK_BITS) * BLOCK_BYTES + BLOCK_HEAD;

		if ((block[bit / 8] >> bit % 8 & 1) && rank < most)
			ret[rank++].index = i;
	}
	return rank;
}

static size_t rank_bytes(uint32_t code_words)
{
	if (code_words < FEW)
		return (code_words + IN_A_WORD - 1) / IN_A_WORD * sizeof(uint64_t);
	return FEW / IN_A_WORD * sizeof(uint64_t) +
	       (size_t)((code_words - FEW + BLOCK_BITS - 1) / BLOCK_BITS) * BLOCK_BYTES;
}

/* The instructions at which lines begin: of one line, the first one. */
static int read_indexes(const struct ruby_layout *layout, const struct python_reader *reader,
			const uint8_t *body, struct ruby_iseq *ret)
{
	uint32_t code_words = half_at(body, layout->code_words);
	uint32_t most = half_at(body, layout->line_count);
	uint8_t *table;

	ret->line_count = most;
	if (most == 1)
		return 0;
	table = malloc(rank_bytes(code_words) + 1);
	if (!table)
		return -ENOMEM;
	if (!read_bytes(reader, word_at(body, layout->ranks), table, rank_bytes(code_words))) {
		free(table);
		return -EFAULT;
	}
	ret->line_count = decode_ranks(table, code_words, most, ret->lines);
	free(table);
	return 0;
}

static int read_lines(const struct ruby_layout *layout, const struct python_reader *reader,
		      const uint8_t *body, struct ruby_iseq *ret)
{
	uint32_t count = half_at(body, layout->line_count);
	size_t size = (size_t)count * layout->line_bytes;
	uint8_t *items;
	int r = -EFAULT;

	/* A sequence that is still being compiled has no table of ranks. */
	if (count == 0 || half_at(body, layout->code_words) > RUBY_CODE_MAX ||
	    count > RUBY_CODE_MAX || (count > 1 && word_at(body, layout->ranks) == 0))
		return 0;
	ret->lines = calloc(count, sizeof(*ret->lines));
	items = malloc(size);
	if (!ret->lines || !items)
		r = -ENOMEM;
	else if (read_bytes(reader, word_at(body, layout->lines), items, size))
		r = read_indexes(layout, reader, body, ret);
	for (size_t i = 0; r == 0 && i < ret->line_count; i++)
		ret->lines[i].line = half_at(items, i * layout->line_bytes);
	free(items);
	return r;
}

int ruby_iseq_read(const struct ruby_layout *layout, const struct python_reader *reader,
		   uint64_t address, struct ruby_iseq *ret)
{
	struct ruby_iseq iseq = {0};
	uint8_t body[RUBY_BODY_BYTES];
	uint64_t body_address;
	int r = read_body(layout, reader, address, body, &body_address);

	if (r == 0)
		r = read_text(reader, word_at(body, layout->label), RUBY_NAME_MAX, &iseq.name);
	if (r == 0)
		r = read_path(reader, word_at(body, layout->path), &iseq.file);
	if (r == 0)
		r = read_lines(layout, reader, body, &iseq);
	if (r < 0) {
		ruby_iseq_fini(&iseq);
		return r;
	}
	/* A small integer, whose lowest bit is set. */
	iseq.first_line = (uint32_t)(word_at(body, layout->first_line) >> 1);
	*ret = iseq;
	return 0;
}

void ruby_iseq_fini(struct ruby_iseq *iseq)
{
	free(iseq->name);
	free(iseq->file);
	free(iseq->lines);
	*iseq = (struct ruby_iseq){0};
}

uint32_t ruby_iseq_line(const struct ruby_iseq *iseq, uint32_t index)
{
	size_t low = 0;
	size_t high = iseq->line_count;

	if (high == 0 || index == PYTHON_INDEX_MAX)
		return iseq->first_line;
	index -= index > 0; /* a frame points behind the instruction that it executes */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (iseq->lines[middle].index <= index)
			low = middle;
		else
			high = middle;
	}
	return iseq->lines[low].line;
}
