/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/dictionary_decoder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "recording/format.h"

struct fixture {
	struct dictionary dictionary;
	struct dictionary_decoder decoder;
	struct bytes chunk;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){0};
	assert_int_equal(dictionary_init(&f->dictionary), 0);
	assert_int_equal(dictionary_decoder_init(&f->decoder, &f->dictionary), 0);
}

static void fixture_fini(struct fixture *f)
{
	dictionary_decoder_fini(&f->decoder);
	dictionary_fini(&f->dictionary);
	bytes_fini(&f->chunk);
}

static void put_section(struct bytes *out, uint8_t id, uint64_t first, uint64_t count,
			const struct bytes *body)
{
	bytes_put_u8(out, id);
	bytes_put_varint(out, first);
	bytes_put_varint(out, count);
	bytes_put_varint(out, body->size);
	bytes_put(out, body->data, body->size);
}

/* A chunk with count strings "first", "first + 1" … under these numbers. */
static int add_strings(struct fixture *f, uint64_t first, uint64_t count)
{
	struct bytes body = {0};
	int r;

	for (uint64_t i = first; i < first + count; i++) {
		char text[24];

		bytes_put_string(
			&body, text,
			(size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)i));
	}
	bytes_clear(&f->chunk);
	put_section(&f->chunk, SECTION_STRINGS, first, count, &body);
	bytes_fini(&body);
	r = dictionary_decoder_run(&f->decoder, f->chunk.data, f->chunk.size);
	return r;
}

static void assert_string(const struct fixture *f, uint64_t number, bool is_known)
{
	uint32_t id = number_map_get(&f->decoder.strings, number);
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	assert_int_equal(id == ID_NONE, !is_known);
	if (is_known)
		assert_string_equal(strings_get(&f->dictionary.strings, id), text);
}

static void numbers_behind_holes_keep_their_meaning(void **state)
{
	static const uint64_t parts[][2] = {{0, 3}, {10, 2}, {12, 1}, {1000, 5}, {5000000, 1}};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_int_equal(add_strings(&f, parts[i][0], parts[i][1]), 0);
	for (uint64_t number = 0; number < 1100; number++)
		assert_string(&f, number,
			      number < 3 || (number >= 10 && number < 13) ||
				      (number >= 1000 && number < 1005));
	assert_string(&f, 4999999, false);
	assert_string(&f, 5000000, true);
	assert_string(&f, 5000001, false);
	assert_string(&f, UINT64_MAX, false);
	assert_int_equal(add_strings(&f, 5000000, 1), -EBADMSG); /* it is taken */
	assert_int_equal(add_strings(&f, 11, 1), -EBADMSG);
	assert_int_equal(dictionary_decoder_reset(&f.decoder), 0);
	assert_string(&f, 0, false);
	assert_int_equal(add_strings(&f, 0, 1), 0);
	assert_string(&f, 0, true);
	fixture_fini(&f);
}

/* A frame of a module behind a hole counts from the last of the same module. */
static void frames_of_modules_behind_holes_are_found(void **state)
{
	static const struct bytes nothing = {0};
	struct bytes modules = {0};
	struct bytes frames = {0};
	const uint64_t number = EPOCH_MAX_NUMBERS - 8;
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(add_strings(&f, 0, 1), 0);
	bytes_clear(&f.chunk);
	/* kind path id-size device inode mtime size owner */
	bytes_put(&modules, "\1\0\0\1\2\3\4\0", 8);
	put_section(&f.chunk, SECTION_MODULES, number, 1, &modules);
	bytes_put_u8(&frames, 0); /* shift */
	for (int i = 0; i < 2; i++)
		bytes_put_varint(&frames, (number + 1) << 3 | FRAME_NATIVE);
	bytes_put_varint(&frames, (number + 3) << 3 | FRAME_NATIVE); /* not known */
	for (int i = 0; i < 3; i++)
		bytes_put_varint(&frames, zigzag_encode(0x10));
	put_section(&f.chunk, SECTION_FRAMES, 0, 3, &frames);
	put_section(&f.chunk, SECTION_LABELS, number, 0, &nothing);
	assert_int_equal(dictionary_decoder_run(&f.decoder, f.chunk.data, f.chunk.size), 0);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t id = number_map_get(&f.decoder.frames, i);

		assert_int_not_equal(id, ID_NONE);
		assert_int_equal(f.dictionary.frames.items[id].b, 0x10 * (i + 1));
	}
	assert_int_equal(number_map_get(&f.decoder.frames, 2), ID_NONE);
	bytes_fini(&modules);
	bytes_fini(&frames);
	fixture_fini(&f);
}

/* A few bytes may claim millions of lost entries: they must not cost what entries cost. */
static void a_hole_takes_no_memory_whatever_its_size(void **state)
{
	static const struct bytes nothing = {0};
	struct fixture f;

	fixture_init(&f);
	put_section(&f.chunk, SECTION_STRINGS, EPOCH_MAX_NUMBERS, 0, &nothing);
	put_section(&f.chunk, SECTION_PROCESSES, EPOCH_MAX_NUMBERS, 0, &nothing);
	put_section(&f.chunk, SECTION_THREADS, EPOCH_MAX_NUMBERS, 0, &nothing);
	assert_int_equal(dictionary_decoder_run(&f.decoder, f.chunk.data, f.chunk.size), 0);
	assert_in_range(f.decoder.strings.ids.capacity, 0, 64);
	assert_in_range(f.decoder.processes.ids.capacity, 0, 64);
	assert_in_range(f.decoder.threads.ids.capacity, 0, 64);
	assert_int_equal(f.decoder.threads.holes.count, 1);
	bytes_clear(&f.chunk);
	put_section(&f.chunk, SECTION_LABELS, EPOCH_MAX_NUMBERS + 1ull, 0, &nothing);
	assert_int_equal(dictionary_decoder_run(&f.decoder, f.chunk.data, f.chunk.size), -EBADMSG);
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_behind_holes_keep_their_meaning),
		cmocka_unit_test(frames_of_modules_behind_holes_are_found),
		cmocka_unit_test(a_hole_takes_no_memory_whatever_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
