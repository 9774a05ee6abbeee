/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/interior_pointers.h"

#include <stddef.h>

#include "heap/leak/reach.h"

#define WORD sizeof(uint64_t)
#define STRING_WORDS 3u  /* of an old std::string before its characters */
#define VTABLE_WORDS 20u /* words of a table that are checked */
#define VTABLE_FUNCTIONS 2u
#define FIRST_PAGE 4096u

static bool read_words(const struct reach_config *config, uint64_t address, uint64_t *ret, size_t n)
{
	return config->read(config->self, address, ret, n * WORD) == n * WORD;
}

/* Length, capacity, reference count, then capacity + 1 characters. */
static bool is_string(const struct reach_config *config, const struct reach_block *block)
{
	uint64_t head[2];

	return block->size_bytes > STRING_WORDS * WORD &&
	       read_words(config, block->address, head, 2) &&
	       head[1] == block->size_bytes - STRING_WORDS * WORD - 1 && head[0] <= head[1];
}

/* A count of elements or bytes, followed by them. */
static bool is_counted(const struct reach_config *config, const struct reach_block *block)
{
	uint64_t number;

	return block->size_bytes > WORD && read_words(config, block->address, &number, 1) &&
	       number > 0 && (block->size_bytes - WORD) % number == 0;
}

/* An empty array: only its count. */
static bool is_empty_array(const struct reach_config *config, const struct reach_block *block)
{
	uint64_t number;

	return block->size_bytes == REACH_COUNT_BYTES &&
	       read_words(config, block->address, &number, 1) && number == 0;
}

/* The mapped file that contains an address; NULL: none. */
static const struct reach_file *find_file(const struct reach_config *config, uint64_t address)
{
	size_t low = 0;
	size_t high = config->file_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (config->files[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < config->file_count && address >= config->files[low].start ? &config->files[low]
									       : NULL;
}

/* Whether there is a list of functions, possibly with gaps. */
static bool is_vtable(const struct reach_config *config, uint64_t address)
{
	uint64_t words[VTABLE_WORDS];
	const struct reach_file *file =
		address % WORD == 0 && address >= FIRST_PAGE ? find_file(config, address) : NULL;
	size_t n = file ? (size_t)((file->end - address) / WORD) : 0;
	size_t functions = 0;

	if (n > VTABLE_WORDS)
		n = VTABLE_WORDS;
	if (n == 0 || !read_words(config, address, words, n))
		return false;
	for (size_t i = 0; i < n && functions < VTABLE_FUNCTIONS; i++) {
		const struct reach_file *code = words[i] ? find_file(config, words[i]) : NULL;

		if (words[i] && (!code || !code->is_code))
			return false;
		functions += words[i] != 0;
	}
	return functions == VTABLE_FUNCTIONS;
}

/* An object that contains another one with its own vtable. */
static bool is_second_base(const struct reach_config *config, const struct reach_block *block,
			   uint32_t offset)
{
	uint64_t first;
	uint64_t inner;

	return offset % WORD == 0 && read_words(config, block->address + offset, &inner, 1) &&
	       read_words(config, block->address, &first, 1) && is_vtable(config, inner) &&
	       is_vtable(config, first);
}

bool interior_pointers_explain(const struct reach_config *config, const struct reach_block *block,
			       uint32_t offset)
{
	if (offset == block->size_bytes)
		return is_empty_array(config, block);
	if (offset == STRING_WORDS * WORD && is_string(config, block))
		return true;
	if (offset == WORD && is_counted(config, block))
		return true;
	return is_second_base(config, block, offset);
}
