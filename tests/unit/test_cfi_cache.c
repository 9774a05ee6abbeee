/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

#include "cfi_builder.h"

struct fixture {
	char directory[64];
	struct cfi_builder builder;
	struct cfi_cache *cache;
};

static void remove_files(const char *directory)
{
	DIR *opened = opendir(directory);
	const struct dirent *entry;

	while (opened && (entry = readdir(opened)) != NULL)
		(void)unlinkat(dirfd(opened), entry->d_name, 0); /* "." and ".." refuse */
	if (opened)
		(void)closedir(opened);
}

static void open_cache(struct fixture *f, uint64_t limit_bytes)
{
	cfi_cache_close(f->cache);
	f->cache = NULL;
	assert_int_equal(cfi_cache_open(f->directory, limit_bytes, &f->cache, NULL), 0);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	(void)snprintf(f->directory, sizeof(f->directory), "/tmp/wick-cache-XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	open_cache(f, 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	cfi_cache_close(f->cache);
	remove_files(f->directory);
	(void)rmdir(f->directory);
	free(f);
	return 0;
}

static struct elf_file *make_module(struct fixture *f, uint8_t seed, uint8_t offset)
{
	struct cfi_builder *b = &f->builder;
	size_t cie;

	cfi_builder_init(b, EM_AARCH64);
	if (seed)
		cfi_builder_build_id(b, seed);
	cie = cfi_builder_cie(b, "zR", (const uint8_t[]){0x0c, 31, 0}, 3);
	cfi_builder_fde(b, cie, CODE, 0x40, (const uint8_t[]){0x41, 0x0e, offset}, 3);
	return cfi_builder_open(b);
}

/* Gets the table and returns the CFA's offset inside the function. */
static int get(struct fixture *f, uint8_t seed, uint8_t offset)
{
	struct elf_file *elf = make_module(f, seed, offset);
	struct cfi_table table;
	const struct unwind_rule *rule;
	int found;

	assert_int_equal(cfi_cache_get(f->cache, elf, &table, NULL), 0);
	assert_int_equal(table.table.machine, EM_AARCH64);
	rule = unwind_table_find(&table.table, CODE + 0x10);
	assert_non_null(rule);
	found = rule ? rule->cfa_offset : -1;
	cfi_table_fini(&table);
	elf_close(elf);
	return found;
}

static void assert_counts(struct fixture *f, uint64_t hits, uint64_t misses)
{
	uint64_t found_hits;
	uint64_t found_misses;

	cfi_cache_counts(f->cache, &found_hits, &found_misses);
	assert_int_equal(found_hits, hits);
	assert_int_equal(found_misses, misses);
}

/* The path of the only file in the directory; how many there are. */
static int find_file(struct fixture *f, char *path, size_t size)
{
	DIR *opened = opendir(f->directory);
	const struct dirent *entry;
	int count = 0;

	while ((entry = readdir(opened)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, size, "%s/%s", f->directory, entry->d_name);
		count++;
	}
	(void)closedir(opened);
	return count;
}

static void a_table_is_compiled_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 0, 1);
	assert_int_equal(get(f, 1, 32), 32);
	open_cache(f, 0); /* another process */
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 1, 0);
}

static void modules_have_tables_of_their_own(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(get(f, 1, 32), 32);
	assert_int_equal(get(f, 2, 48), 48);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 1, 2);
}

static void a_build_id_alone_does_not_make_two_files_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(get(f, 1, 32), 32);
	assert_int_equal(get(f, 1, 48), 48); /* laid out alike; the CFI says something else */
	assert_counts(f, 0, 2);
}

/* Writes the module to a file and gets its table from there. */
static void get_of_file(struct fixture *f, const char *path, uint8_t code)
{
	struct cfi_table table;
	struct elf_file *elf;
	int fd;

	elf = make_module(f, 1, 32);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* Any of the bytes of the code, which stand before all that is looked for. */
	f->builder.elf.data[f->builder.elf.size / 2] ^= code;
	assert_int_equal(write(fd, f->builder.elf.data, f->builder.elf.size), f->builder.elf.size);
	(void)close(fd);
	elf_close(elf);
	assert_int_equal(elf_open(path, &elf, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cfi_cache_get(f->cache, elf, &table, NULL), 0);
		cfi_table_fini(&table);
	}
	elf_close(elf);
}

/* The compiler looks at code too, which differs in nothing that a header would show. */
static void a_forged_file_has_a_table_of_its_own(void **state)
{
	struct fixture *f = *state;
	char paths[2][96];

	for (int i = 0; i < 2; i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "/tmp/wick-forged-%d-%d", (int)getpid(),
			       i);
		(void)unlink(paths[i]);
		get_of_file(f, paths[i], (uint8_t)i);
		assert_counts(f, 1 + (uint64_t)i,
			      1 + (uint64_t)i); /* the second time it is there */
	}
	for (int i = 0; i < 2; i++)
		(void)unlink(paths[i]);
}

static void a_module_without_build_id_is_not_kept(void **state)
{
	struct fixture *f = *state;
	char path[512];

	assert_int_equal(get(f, 0, 32), 32);
	assert_int_equal(get(f, 0, 48), 48);
	assert_counts(f, 0, 2);
	assert_int_equal(find_file(f, path, sizeof(path)), 0);
}

static void a_damaged_file_is_compiled_anew(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char path[512];

	get(f, 1, 32);
	assert_int_equal(find_file(f, path, sizeof(path)), 1);
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x11;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		assert_int_equal(get(f, 1, 32), 32);
	}
	assert_counts(f, 0, 1 + (uint64_t)st.st_size);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 1, 1 + (uint64_t)st.st_size);
}

static void a_cut_off_or_empty_file_is_compiled_anew(void **state)
{
	struct fixture *f = *state;
	char path[512];

	get(f, 1, 32);
	assert_int_equal(find_file(f, path, sizeof(path)), 1);
	assert_int_equal(truncate(path, 138), 0);
	assert_int_equal(get(f, 1, 32), 32);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 0, 3);
}

static void links_and_fifos_are_not_followed(void **state)
{
	struct fixture *f = *state;
	char path[512];
	char other[600];

	get(f, 1, 32);
	assert_int_equal(find_file(f, path, sizeof(path)), 1);
	(void)snprintf(other, sizeof(other), "%s.moved", path);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 0, 2);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 0, 3);
}

static void files_of_another_user_are_ignored(void **state)
{
	struct fixture *f = *state;
	char path[512];

	if (geteuid() != 0)
		skip(); /* only root can make one */
	get(f, 1, 32);
	assert_int_equal(find_file(f, path, sizeof(path)), 1);
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(get(f, 1, 32), 32);
	assert_counts(f, 0, 2);
	assert_int_equal(chown(f->directory, 12345, 12345), 0);
	struct cfi_cache *cache = NULL;
	assert_int_equal(cfi_cache_open(f->directory, 0, &cache, NULL), -EPERM);
	assert_int_equal(chown(f->directory, 0, 0), 0);
}

static void the_directory_is_made_and_private(void **state)
{
	struct fixture *f = *state;
	struct cfi_cache *cache = NULL;
	struct stat st;
	char path[128];
	char parent[128];

	(void)snprintf(parent, sizeof(parent), "%s/a", f->directory);
	(void)snprintf(path, sizeof(path), "%s/a/b", f->directory);
	assert_int_equal(cfi_cache_open(path, 0, &cache, NULL), 0);
	cfi_cache_close(cache);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(cfi_cache_open(path, 0, &cache, NULL), 0);
	cfi_cache_close(cache);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(parent), 0);
}

/* Makes all files ten seconds older: clocks of file systems tick too slowly for a test. */
static void age_files(const struct fixture *f)
{
	DIR *opened = opendir(f->directory);
	const struct dirent *entry;
	struct stat st;

	while ((entry = readdir(opened)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		assert_int_equal(fstatat(dirfd(opened), entry->d_name, &st, 0), 0);
		struct timespec times[2] = {st.st_atim, st.st_mtim};

		times[1].tv_sec -= 10;
		assert_int_equal(utimensat(dirfd(opened), entry->d_name, times, 0), 0);
	}
	closedir(opened);
}

static void the_oldest_tables_go_when_the_cache_is_full(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char path[512];

	get(f, 1, 32);
	assert_int_equal(find_file(f, path, sizeof(path)), 1);
	assert_int_equal(stat(path, &st), 0);
	open_cache(f, (uint64_t)st.st_size * 3);
	for (uint8_t seed = 2; seed <= 9; seed++) {
		age_files(f);
		get(f, seed, 32);
	}
	assert_int_equal(find_file(f, path, sizeof(path)), 3);
	get(f, 9, 32);
	get(f, 1, 32);
	assert_counts(f, 1, 9);
}

static void many_processes_may_work_at_once(void **state)
{
	struct fixture *f = *state;
	char path[512];

	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			for (int round = 0; round < 50; round++) {
				remove_files(round % 10 == 0 ? f->directory : "/nonexistent");
				if (get(f, (uint8_t)(1 + round % 3), 32) != 32)
					_exit(1);
			}
			_exit(0);
		}
	}
	for (int i = 0; i < 4; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_true(find_file(f, path, sizeof(path)) <= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_is_compiled_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(modules_have_tables_of_their_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_build_id_alone_does_not_make_two_files_one,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forged_file_has_a_table_of_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_module_without_build_id_is_not_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_compiled_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cut_off_or_empty_file_is_compiled_anew, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(links_and_fifos_are_not_followed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(files_of_another_user_are_ignored, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_directory_is_made_and_private, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_tables_go_when_the_cache_is_full, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(many_processes_may_work_at_once, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
