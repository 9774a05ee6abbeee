/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/disk_table.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file/cache_dir.h"
#include "symbol/elf_symbols.h"

/* The file is the C library: it has thousands of symbols. */
struct fixture {
	char path[64];
	struct cache_dir dir;
	struct elf_file *elf;
};

static int set_up(void **state)
{
	static struct fixture f;
	Dl_info libc;

	(void)snprintf(f.path, sizeof(f.path), "/tmp/wick-test-XXXXXX");
	assert_non_null(mkdtemp(f.path));
	assert_int_equal(cache_dir_init(&f.dir, f.path, "x", DISK_TABLE_SUFFIX, 1u << 30), 0);
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &libc));
	assert_int_equal(elf_open(libc.dli_fname, &f.elf, NULL), 0);
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
	elf_close(f->elf);
	cache_dir_fini(&f->dir);
	(void)rmdir(f->path);
	return 0;
}

static void assert_same_at(const struct elf_symbols *a, const struct elf_symbols *b, uint64_t vaddr)
{
	uint32_t i = elf_symbols_find(a, vaddr);

	assert_int_equal(elf_symbols_find(b, vaddr), i);
	if (i == ELF_SYMBOL_NONE)
		return;
	struct elf_symbol x = elf_symbols_at(a, i);
	struct elf_symbol y = elf_symbols_at(b, i);

	assert_string_equal(x.name, y.name);
	assert_true(x.start == y.start && x.size == y.size);
}

/* Both say the same of each symbol: at its ends, inside and around it. */
static void assert_same(const struct elf_symbols *a, const struct elf_symbols *b)
{
	assert_int_equal(elf_symbols_count(a), elf_symbols_count(b));
	assert_int_equal(elf_symbols_have_names(a), elf_symbols_have_names(b));
	assert_same_at(a, b, 0);
	assert_same_at(a, b, UINT64_MAX);
	for (uint32_t i = 0; i < elf_symbols_count(a); i++) {
		struct elf_symbol symbol = elf_symbols_at(a, i);

		assert_same_at(a, b, symbol.start - 1);
		assert_same_at(a, b, symbol.start);
		assert_same_at(a, b, symbol.start + symbol.size / 2);
		assert_same_at(a, b, symbol.start + symbol.size);
	}
}

static void check(struct fixture *f)
{
	struct elf_symbols *in_memory;
	struct elf_symbols *on_disk;

	assert_int_equal(elf_symbols_read(f->elf, &in_memory, NULL), 0);
	assert_int_equal(elf_symbols_read_cached(f->elf, &f->dir, &on_disk, NULL), 0);
	assert_same(in_memory, on_disk);
	elf_symbols_free(in_memory);
	elf_symbols_free(on_disk);
}

static void the_table_on_disk_says_what_the_one_in_memory_says(void **state)
{
	struct fixture *f = *state;
	struct file_identity file = elf_identity(f->elf);
	struct disk_table *table;

	check(f); /* it is written */
	check(f); /* it is there */
	table = disk_table_open(&f->dir, &file);
	assert_non_null(table);
	assert_true(disk_table_count(table) > 1000);
	disk_table_close(table);
}

static void another_file_has_another_table(void **state)
{
	struct fixture *f = *state;
	struct file_identity file = elf_identity(f->elf);

	check(f);
	file.changed_ns++;
	assert_null(disk_table_open(&f->dir, &file));
}

static void cut(const struct fixture *f, const char *name)
{
	int fd = openat(f->dir.fd, name, O_RDWR);

	assert_int_equal(ftruncate(fd, 4096), 0);
	(void)close(fd);
}

static void a_damaged_table_is_not_used_but_made_again(void **state)
{
	struct fixture *f = *state;
	struct file_identity file = elf_identity(f->elf);
	char name[CACHE_NAME_MAX];
	uint8_t byte;

	check(f);
	assert_int_equal(find_file(f, name), 1);
	for (off_t at = 0; at < 4000; at += 37) {
		struct disk_table *table;
		int fd = openat(f->dir.fd, name, O_RDWR);

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		table = disk_table_open(&f->dir, &file);
		/* Of the header's flag any value but 0 means the same. */
		assert_true(!table || (at >= 12 && at < 16));
		disk_table_close(table);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		(void)close(fd);
	}
	cut(f, name);
	assert_null(disk_table_open(&f->dir, &file));
	check(f);
}

static void without_a_directory_it_is_in_memory(void **state)
{
	struct fixture *f = *state;
	struct cache_dir none = {.fd = -1};
	struct elf_symbols *in_memory;
	struct elf_symbols *other;

	assert_int_equal(elf_symbols_read(f->elf, &in_memory, NULL), 0);
	assert_int_equal(elf_symbols_read_cached(f->elf, &none, &other, NULL), 0);
	assert_same(in_memory, other);
	elf_symbols_free(other);
	assert_int_equal(elf_symbols_read_cached(f->elf, NULL, &other, NULL), 0);
	assert_same(in_memory, other);
	elf_symbols_free(other);
	elf_symbols_free(in_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_table_on_disk_says_what_the_one_in_memory_says,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_file_has_another_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_table_is_not_used_but_made_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_a_directory_it_is_in_memory, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
