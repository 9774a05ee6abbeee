/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/walk.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "language/known_codes.h"
#include "language/ruby/iseq.h"
#include "language/ruby/layout.h"
#include "unwind/python_walk.h"

/* A process with Ruby 3.1, whose thread runs two methods, one of them called by C code. */
#define BASE 0x10000ull
#define SIZE 4096u
#define VM (BASE + 64)
#define THREAD (BASE + 128)
#define RING (BASE + 256) /* holds the list of threads, and is no thread */
#define CONTEXT (BASE + 384)
#define STACK (BASE + 512)
#define STACK_WORDS 64u
#define STACK_END (STACK + STACK_WORDS * 8)
#define METHOD_FLAGS (BASE + 1088)
#define BLOCK_FLAGS (BASE + 1096)
#define ISEQ (BASE + 1152)
#define BODY (BASE + 1216)
#define LABEL (BASE + 1408)
#define PATHS (BASE + 1472)
#define PATH (BASE + 1536)
#define LINES (BASE + 1600)
#define RANKS (BASE + 1728)
#define CODE (BASE + 2048)
#define CODE_WORDS 60u
#define THREAD_POINTER 0x7000ull

struct memory {
	uint8_t bytes[SIZE];
	struct python_reader reader;
	const struct ruby_layout *layout;
};

static bool read_memory(void *context, uint64_t address, void *ret, uint32_t size)
{
	struct memory *memory = context;

	if (address < BASE || address - BASE > SIZE || SIZE - (address - BASE) < size)
		return false;
	memcpy(ret, memory->bytes + (address - BASE), size);
	return true;
}

static void put(struct memory *memory, uint64_t address, uint64_t value)
{
	memcpy(memory->bytes + (address - BASE), &value, sizeof(value));
}

static void put_half(struct memory *memory, uint64_t address, uint32_t value)
{
	memcpy(memory->bytes + (address - BASE), &value, sizeof(value));
}

static void put_frame(struct memory *memory, uint64_t at, uint64_t pc, uint64_t iseq,
		      uint64_t flags)
{
	put(memory, at, pc);
	put(memory, at + 16, iseq);
	put(memory, at + 32, flags);
}

/* A string inside its object. */
static void put_text(struct memory *memory, uint64_t address, const char *text)
{
	put(memory, address, 0x05 | strlen(text) << 14);
	memcpy(memory->bytes + (address - BASE) + 16, text, strlen(text));
}

static void put_iseq(struct memory *memory)
{
	put(memory, ISEQ, 0x1a | 7u << 12);
	put(memory, ISEQ + 16, BODY);
	put_half(memory, BODY + 4, CODE_WORDS);
	put(memory, BODY + 8, CODE);
	put(memory, BODY + 64, PATHS);
	put(memory, BODY + 80, LABEL);
	put(memory, BODY + 88, 10u << 1 | 1);
	put(memory, BODY + 120, LINES);
	put_half(memory, BODY + 136, 3);
	put(memory, BODY + 144, RANKS);
	put_text(memory, LABEL, "block in work");
	put(memory, PATHS, 0x07 | 1u << 13);
	put(memory, PATHS + 16, LABEL);
	put(memory, PATHS + 24, PATH);
	put_text(memory, PATH, "/app/main.rb");
	/* Line 10 from instruction 0, 11 from 5, 12 from 56. */
	for (uint32_t i = 0; i < 3; i++)
		put_half(memory, LINES + i * 12ull, 10 + i);
	for (uint32_t i = 0; i < 54; i += 9) {
		uint64_t word = 0;

		for (uint32_t j = 0; j < 9; j++)
			word |= (uint64_t)(i + j < 5 ? 1 : 2) << 7 * j;
		put(memory, RANKS + i / 9 * 8ull, word);
	}
	put(memory, RANKS + 48 + 16, 1u << (56 - 54));
}

static void make(struct memory *memory)
{
	*memory = (struct memory){.layout = ruby_layout_find(0x0301)};
	memory->reader = (struct python_reader){read_memory, memory};
	put_iseq(memory);
	put(memory, BASE, VM);
	put(memory, VM + 40, THREAD);
	put(memory, THREAD, RING);
	put(memory, RING, THREAD);
	put(memory, THREAD + 32, VM);
	put(memory, THREAD + 40, CONTEXT);
	put(memory, THREAD + 80, THREAD_POINTER);
	put(memory, CONTEXT, STACK);
	put(memory, CONTEXT + 8, STACK_WORDS);
	put(memory, CONTEXT + 16, STACK_END - 4 * 64);
	put(memory, METHOD_FLAGS, 0x11110001);
	put(memory, BLOCK_FLAGS, 0x22220001 | 0x20);
	put_frame(memory, STACK_END - 4 * 64, CODE + 6 * 8, ISEQ, METHOD_FLAGS);
	put_frame(memory, STACK_END - 3 * 64, CODE + 2 * 8, ISEQ, BLOCK_FLAGS);
	/* A method written in C, and the outermost frame. */
}

static int walk(struct memory *memory, uint64_t thread_pointer, uint64_t *words, uint32_t *count)
{
	struct ruby_thread thread = {BASE, thread_pointer};

	return ruby_walk(memory->layout, &memory->reader, &thread, words, 8, count);
}

static void calls_are_read_from_the_innermost_on(void **state)
{
	struct memory memory;
	uint64_t words[8];
	uint32_t count;

	(void)state;
	make(&memory);
	assert_int_equal(walk(&memory, THREAD_POINTER, words, &count), PYTHON_ROOT);
	assert_int_equal(count, 2);
	assert_int_equal(python_word_code(words[0]), ISEQ);
	assert_int_equal(python_word_index(words[0]), 6);
	assert_false(words[0] & PYTHON_WORD_ENTRY);
	assert_int_equal(python_word_index(words[1]), 2);
	assert_true(words[1] & PYTHON_WORD_ENTRY);
}

static void another_thread_has_none(void **state)
{
	struct memory memory;
	uint64_t words[8];
	uint32_t count;

	(void)state;
	make(&memory);
	assert_int_equal(walk(&memory, 0x700000, words, &count), PYTHON_NO_THREAD);
	/* One that starts has no stack yet. */
	put(&memory, CONTEXT, 0);
	put(&memory, CONTEXT + 16, 0);
	assert_int_equal(walk(&memory, THREAD_POINTER, words, &count), PYTHON_NO_THREAD);
}

static void what_is_no_frame_is_not_shown(void **state)
{
	static const struct {
		uint64_t address;
		uint64_t value;
	} cases[] = {
		{METHOD_FLAGS, 0},                     /* not a kind of frame */
		{STACK_END - 4 * 64, CODE - 8},        /* outside of its code */
		{STACK_END - 4 * 64, CODE + 61 * 8},   /* behind it */
		{STACK_END - 4 * 64 + 16, ISEQ + 4},   /* not an address */
		{CONTEXT + 16, STACK_END + 64},        /* outside of the stack */
		{CONTEXT + 16, STACK_END - 4 * 64 + 8} /* between two frames */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct memory memory;
		uint64_t words[8];
		uint32_t count;

		make(&memory);
		put(&memory, cases[i].address, cases[i].value);
		assert_int_equal(walk(&memory, THREAD_POINTER, words, &count), PYTHON_TORN);
		assert_int_equal(count, 0);
	}
}

static void an_iseq_has_a_name_a_file_and_lines(void **state)
{
	struct ruby_iseq iseq;
	struct memory memory;

	(void)state;
	make(&memory);
	assert_int_equal(ruby_iseq_read(memory.layout, &memory.reader, ISEQ, &iseq), 0);
	assert_string_equal(iseq.name, "block in work");
	assert_string_equal(iseq.file, "/app/main.rb");
	assert_int_equal(ruby_iseq_line(&iseq, 0), 10);
	/* A frame is behind the instruction that it executes. */
	assert_int_equal(ruby_iseq_line(&iseq, 5), 10);
	assert_int_equal(ruby_iseq_line(&iseq, 6), 11);
	assert_int_equal(ruby_iseq_line(&iseq, 56), 11);
	assert_int_equal(ruby_iseq_line(&iseq, 57), 12);
	ruby_iseq_fini(&iseq);
}

static void another_object_is_no_iseq(void **state)
{
	struct ruby_iseq iseq;
	struct memory memory;
	struct code_key key;

	(void)state;
	make(&memory);
	put(&memory, ISEQ, 0x1a | 6u << 12);
	assert_int_equal(ruby_iseq_read(memory.layout, &memory.reader, ISEQ, &iseq), -EINVAL);
	assert_int_equal(ruby_iseq_key(memory.layout, &memory.reader, ISEQ, &key), -EINVAL);
	assert_int_equal(ruby_iseq_read(memory.layout, &memory.reader, 8, &iseq), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_read_from_the_innermost_on),
		cmocka_unit_test(another_thread_has_none),
		cmocka_unit_test(what_is_no_frame_is_not_shown),
		cmocka_unit_test(an_iseq_has_a_name_a_file_and_lines),
		cmocka_unit_test(another_object_is_no_iseq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
