/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "language/python/code.h"
#include "language/python/layout.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"

/*
 * The memory of a process with an interpreter, at BASE: its first byte is the version. It may
 * contain anything: names and lines are bounded, and walks end.
 */
#define BASE 0x10000ull
#define CALLS 64u
#define MOST_READS 100000u

struct memory {
	const uint8_t *bytes;
	size_t size;
	uint64_t reads;
};

static bool read_memory(void *context, uint64_t address, void *ret, uint32_t size)
{
	struct memory *memory = context;

	if (memory->reads++ > MOST_READS)
		abort();
	if (address < BASE || address - BASE > memory->size ||
	    memory->size - (address - BASE) < size)
		return false;
	memcpy(ret, memory->bytes + (address - BASE), size);
	return true;
}

static void read_code(const struct python_structs *structs, const struct python_reader *reader,
		      uint64_t address)
{
	struct python_code_key key;
	struct python_code code;

	if (python_code_key(&structs->code, reader, address, &key) < 0 ||
	    python_code_read(&structs->code, reader, &key, &code) < 0)
		return;
	if (code.name &&
	    (strlen(code.name) > 4 * PYTHON_NAME_MAX || strlen(code.file) > 4 * PYTHON_FILE_MAX))
		abort();
	for (uint32_t i = 0; i < PYTHON_INDEX_MAX; i = i * 3 + 1)
		(void)python_code_line(&code, i);
	python_code_fini(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = {.bytes = data + 1, .size = size - 1};
	struct python_reader reader = {read_memory, &memory};
	struct python_structs structs;
	uint64_t words[CALLS];
	uint32_t count = 0;
	uint64_t state;
	const char *why;

	if (size < 1)
		return 0;
	if (python_structs_find(0x03090000u + (data[0] % 6u << 16), BASE, &reader, &structs, &why) <
	    0)
		return 0;
	read_code(&structs, &reader, BASE);
	state = python_find_thread(&structs.frames, &reader, 0);
	if (state != 0 && !python_is_listed(&structs.frames, &reader, state))
		state = BASE;
	(void)python_walk(&structs.frames, &reader, state ? state : BASE, words, CALLS, &count);
	if (count > CALLS)
		abort();
	for (uint32_t i = 0; i < count; i++)
		read_code(&structs, &reader, python_word_code(words[i]));
	return 0;
}
