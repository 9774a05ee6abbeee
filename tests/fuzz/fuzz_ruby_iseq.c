/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "language/known_codes.h"
#include "language/ruby/iseq.h"
#include "language/ruby/layout.h"
#include "language/ruby/walk.h"
#include "unwind/python_walk.h"

/*
 * The memory of a process with Ruby, at BASE, where the pointer to the virtual machine is. It may
 * contain anything: names and lines are bounded, and walks end.
 */
#define BASE 0x10000ull
#define CALLS 64u
#define MOST_READS 1000000u

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

static void read_iseq(const struct ruby_layout *layout, const struct python_reader *reader,
		      uint64_t address)
{
	struct code_key key;
	struct ruby_iseq iseq;

	if (ruby_iseq_key(layout, reader, address, &key) < 0 ||
	    ruby_iseq_read(layout, reader, address, &iseq) < 0)
		return;
	if (strlen(iseq.name) > RUBY_NAME_MAX || strlen(iseq.file) > RUBY_FILE_MAX)
		abort();
	for (uint32_t i = 0; i < PYTHON_INDEX_MAX; i = i * 3 + 1)
		(void)ruby_iseq_line(&iseq, i);
	ruby_iseq_fini(&iseq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ruby_layout *layout = ruby_layout_find(0x0301);
	struct memory memory = {.bytes = data, .size = size};
	struct python_reader reader = {read_memory, &memory};
	struct ruby_thread thread = {.vm_pointer = BASE};
	uint64_t words[CALLS];
	uint32_t count = 0;

	(void)ruby_walk(layout, &reader, &thread, words, CALLS, &count);
	if (count > CALLS)
		abort();
	for (uint32_t i = 0; i < count; i++)
		read_iseq(layout, &reader, python_word_code(words[i]));
	for (uint64_t at = 0; at < size && at < 4096; at += 64)
		read_iseq(layout, &reader, BASE + at);
	return 0;
}
