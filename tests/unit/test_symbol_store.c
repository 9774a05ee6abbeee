/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_store.h"

#include <dirent.h>
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

#include "base/file/cache_dir.h"
#include "elf/elf.h"
#include "symbol/symboliser.h"

#define COUNT 1000u
#define NOTHING_AT 0xfff0 /* debug information has no answer there */

static const struct build_id id = {.size = 2, .bytes = {1, 2}};
static const struct file_identity file = {1, 2, 3, 4, 5, 6};

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

/* The name of the last file in the directory; how many there are. */
static int find_file(const struct fixture *f, char *name)
{
	DIR *opened = opendir(f->path);
	const struct dirent *entry;
	int count = 0;

	while ((entry = readdir(opened)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(name, CACHE_NAME_MAX, "%.*s", CACHE_NAME_MAX - 1, entry->d_name);
		count++;
	}
	(void)closedir(opened);
	return count;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	char name[CACHE_NAME_MAX];

	while (find_file(f, name) > 0)
		(void)unlinkat(f->dir.fd, name, 0);
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
	struct symbol_store *store = symbol_store_open(&f->dir, &id, &file, 5);

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
	store = symbol_store_open(&((struct fixture *)*state)->dir, &id, &file, 5);
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
	stores[0] = symbol_store_open(&f->dir, &id, &file, 4);
	stores[1] = symbol_store_open(&f->dir, &other, &file, 5);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(symbol_store_find(stores[i], 0x1000, frames, 2), -ENOENT);
		symbol_store_close(stores[i], false);
	}
	assert_null(symbol_store_open(&f->dir, &(struct build_id){0}, &file, 5));
}

/* A build id is what a file claims: what else tells two files apart decides. */
static void a_forged_build_id_finds_nothing_and_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct symbol_frame forged = {.function = "forged", .line = 1};
	struct symbol_frame frames[2];
	struct symbol_store *store;
	char name[CACHE_NAME_MAX];

	keep(f, 0x1000);
	for (size_t i = 0; i < sizeof(file) / sizeof(uint64_t); i++) {
		struct file_identity other = file;

		((uint64_t *)&other)[i]++;
		store = symbol_store_open(&f->dir, &id, &other, 5);
		assert_int_equal(symbol_store_find(store, 0x1000, frames, 2), -ENOENT);
		for (uint64_t k = 0; k < COUNT; k++)
			symbol_store_add(store, 0x1000 + 2 * k, &forged, 1);
		symbol_store_close(store, false);
	}
	store = symbol_store_open(&f->dir, &id, &file, 5);
	check(store, 0x1000);
	symbol_store_close(store, false);
	assert_int_equal(find_file(f, name), 1 + (int)(sizeof(file) / sizeof(uint64_t)));
	/* An image in memory has no file that would tell. */
	assert_null(symbol_store_open(&f->dir, &id, &(struct file_identity){0}, 5));
}

static void partial_answers_are_not_kept(void **state)
{
	struct fixture *f = *state;
	struct symbol_store *store = symbol_store_open(&f->dir, &id, &file, 5);
	char name[CACHE_NAME_MAX];

	fill(store, 0x1000);
	symbol_store_close(store, true);
	assert_int_equal(find_file(f, name), 0);
}

/* Any byte changed, and any part cut off, makes the file as good as none. */
static void a_damaged_file_is_as_good_as_none(void **state)
{
	struct fixture *f = *state;
	struct symbol_frame frames[2];
	struct symbol_store *store;
	struct stat status;
	char name[CACHE_NAME_MAX];
	int fd;

	keep(f, 0x1000);
	assert_int_equal(find_file(f, name), 1);
	fd = openat(f->dir.fd, name, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at += at < 144 ? 1 : 997) {
		uint8_t byte;
		uint8_t wrong;

		if (at >= 49 && at < 56)
			continue; /* padding of the header */
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x41;
		assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
		store = symbol_store_open(&f->dir, &id, &file, 5);
		assert_int_equal(symbol_store_find(store, 0x1000, frames, 2), -ENOENT);
		symbol_store_close(store, false);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	store = symbol_store_open(&f->dir, &id, &file, 5);
	check(store, 0x1000);
	symbol_store_close(store, false);
	assert_int_equal(ftruncate(fd, status.st_size - 1), 0);
	store = symbol_store_open(&f->dir, &id, &file, 5);
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
		cmocka_unit_test_setup_teardown(a_forged_build_id_finds_nothing_and_changes_nothing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(partial_answers_are_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_as_good_as_none, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
