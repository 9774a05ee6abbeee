/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cache_dir.h"
#include "elf/elf.h"
#include "symbol/symboliser.h"

#define COUNT 1000u
#define NOTHING_AT 0xfff0 /* debug information has no answer there */
#define FILE_NAME "0102-5.symbols"

static const struct build_id id = {.size = 2, .bytes = {1, 2}};

struct fixture {
	char path[64];
	struct cache_dir dir;
};

static int set_up(void **state)
{
	static struct fixture f;

	(void)snprintf(f.path, sizeof(f.path), "/tmp/wick-test-XXXXXX");
	assert_non_null(mkdtemp(f.path));
	assert_int_equal(cache_dir_init(&f.dir, f.path, "x", SYMBOL_STORE_SUFFIX, 1u << 30), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)unlinkat(f->dir.fd, FILE_NAME, 0);
	cache_dir_fini(&f->dir);
	(void)rmdir(f->path);
	return 0;
}

/* Answers of addresses first, first + 2, …; those of an odd index have an inlined call. */
static void fill(struct symbol_store *store, uint64_t first)
{
	for (uint32_t i = COUNT; i-- > 0;) { /* in any order */
		struct symbol_frame frames[2] = {
			{.function = "inner", .file = "a.h", .line = 7, .inlined = true},
			{.function = "outer()",
			 .linker = "_Z5outerv",
			 .file = "/src/a.c",
			 .tree = 4,
			 .line = i + 1,
			 .column = 3,
			 .plain_bytes = 7,
			 .start = first},
		};
		uint32_t skipped = i % 2 == 0;

		symbol_store_add(store, first + 2 * (uint64_t)i, frames + skipped, 2 - skipped);
	}
	symbol_store_add(store, first + NOTHING_AT, NULL, 0);
}

static void check(const struct symbol_store *store, uint64_t first)
{
	struct symbol_frame frames[2];

	for (uint32_t i = 0; i < COUNT; i++) {
		int count = symbol_store_find(store, first + 2 * (uint64_t)i, frames, 2);
		const struct symbol_frame *outer = &frames[count - 1];

		assert_int_equal(count, i % 2 + 1);
		assert_string_equal(outer->function, "outer()");
		assert_string_equal(outer->linker, "_Z5outerv");
		assert_string_equal(outer->file, "/src/a.c");
		assert_int_equal(outer->tree, 4);
		assert_int_equal(outer->line, i + 1);
		assert_int_equal(outer->column, 3);
		assert_int_equal(outer->plain_bytes, 7);
		assert_int_equal(outer->start, first);
		assert_false(outer->inlined);
		if (count == 2) {
			assert_string_equal(frames[0].function, "inner");
			assert_null(frames[0].linker);
			assert_int_equal(frames[0].tree, 0);
			assert_true(frames[0].inlined);
		}
		assert_int_equal(symbol_store_find(store, first + 2 * (uint64_t)i + 1, frames, 2),
				 -ENOENT);
	}
	assert_int_equal(symbol_store_find(store, first + NOTHING_AT, frames, 2), 0);
}

static void keep(struct fixture *f, uint64_t first)
{
	struct symbol_store *store = symbol_store_open(&f->dir, &id, 5);

	assert_non_null(store);
	fill(store, first);
	symbol_store_close(store, false);
}

static void what_was_kept_is_found_again_and_added_to(void **state)
{
	struct symbol_store *store;

	keep(*state, 0x100000);
	keep(*state, 0x5000);
	keep(*state, 0x7000000000);
	store = symbol_store_open(&((struct fixture *)*state)->dir, &id, 5);
	check(store, 0x5000);
	check(store, 0x100000);
	check(store, 0x7000000000);
	symbol_store_close(store, false);
}

static void another_form_and_another_build_have_their_own(void **state)
{
	struct fixture *f = *state;
	struct build_id other = {.size = 2, .bytes = {1, 3}};
	struct symbol_store *stores[2];
	struct symbol_frame frames[2];

	keep(f, 0x1000);
	stores[0] = symbol_store_open(&f->dir, &id, 4);
	stores[1] = symbol_store_open(&f->dir, &other, 5);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(symbol_store_find(stores[i], 0x1000, frames, 2), -ENOENT);
		symbol_store_close(stores[i], false);
	}
	assert_null(symbol_store_open(&f->dir, &(struct build_id){0}, 5));
}

static void partial_answers_are_not_kept(void **state)
{
	struct fixture *f = *state;
	struct symbol_store *store = symbol_store_open(&f->dir, &id, 5);

	fill(store, 0x1000);
	symbol_store_close(store, true);
	assert_int_equal(faccessat(f->dir.fd, FILE_NAME, F_OK, 0), -1);
}

/* Any byte changed, and any part cut off, makes the file as good as none. */
static void a_damaged_file_is_as_good_as_none(void **state)
{
	struct fixture *f = *state;
	struct symbol_frame frames[2];
	struct symbol_store *store;
	struct stat status;
	int fd;

	keep(f, 0x1000);
	fd = openat(f->dir.fd, FILE_NAME, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at += at < 96 ? 1 : 997) {
		uint8_t byte;
		uint8_t wrong;

		if (at >= 49 && at < 56)
			continue; /* padding of the header */
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x41;
		assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
		store = symbol_store_open(&f->dir, &id, 5);
		assert_int_equal(symbol_store_find(store, 0x1000, frames, 2), -ENOENT);
		symbol_store_close(store, false);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	store = symbol_store_open(&f->dir, &id, 5);
	check(store, 0x1000);
	symbol_store_close(store, false);
	assert_int_equal(ftruncate(fd, status.st_size - 1), 0);
	store = symbol_store_open(&f->dir, &id, 5);
	assert_int_equal(symbol_store_find(store, 0x1000, frames, 2), -ENOENT);
	symbol_store_close(store, false);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_kept_is_found_again_and_added_to, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_form_and_another_build_have_their_own,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(partial_answers_are_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_as_good_as_none, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
