/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/module_tables.h"

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

#include "proc/maps.h"
#include "proc/module_file.h"
#include "unwind/table.h"

#define MODULE 3

struct fixture {
	char folder[64];
	char program[96]; /* a copy of this one */
	struct module_files *files;
	struct module_tables *tables;
	struct map_region region;
};

static void copy_self(const char *path)
{
	char command[200];

	(void)snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	static struct fixture f;
	struct stat status;

	(void)snprintf(f.folder, sizeof(f.folder), "/tmp/wick-test-XXXXXX");
	assert_non_null(mkdtemp(f.folder));
	assert_int_equal(setenv("XDG_CACHE_HOME", f.folder, 1), 0);
	(void)snprintf(f.program, sizeof(f.program), "%s/program", f.folder);
	copy_self(f.program);
	assert_int_equal(stat(f.program, &status), 0);
	f.region =
		(struct map_region){.kind = REGION_FILE, .path = f.program, .inode = status.st_ino};
	f.files = module_files_new();
	f.tables = module_tables_new(f.files, false);
	assert_true(f.files && f.tables);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];

	module_tables_free(f->tables);
	module_files_free(f->files);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->folder);
	assert_int_equal(system(command), 0);
	return 0;
}

static uint64_t rows(struct fixture *f)
{
	struct module_table table;

	module_tables_get(f->tables, MODULE, -1, &f->region, NULL, &table);
	assert_true(!table.table || table.pages);
	return table.table ? table.table->row_count : 0;
}

static void a_swept_table_comes_back_even_if_its_file_is_gone(void **state)
{
	struct fixture *f = *state;
	struct module_table table;
	uint64_t count = rows(f);

	assert_true(count > 0);
	module_tables_sweep(f->tables);
	assert_true(module_tables_peek(f->tables, MODULE, &table));
	assert_int_equal(rows(f), count); /* it is used */
	module_tables_sweep(f->tables);
	assert_true(module_tables_peek(f->tables, MODULE, &table));
	module_tables_sweep(f->tables);
	assert_false(module_tables_peek(f->tables, MODULE, &table));
	assert_null(table.table);
	assert_int_equal(unlink(f->program), 0);
	assert_int_equal(rows(f), count);
	assert_true(module_tables_peek(f->tables, MODULE, &table));
}

static void a_table_that_the_cache_has_not_stays(void **state)
{
	struct fixture *f = *state;
	struct module_table table;
	uint64_t count = rows(f);
	char command[100];

	(void)snprintf(command, sizeof(command), "rm %s/wick/unwind/*", f->folder);
	assert_int_equal(system(command), 0);
	for (int i = 0; i < 3; i++)
		module_tables_sweep(f->tables);
	assert_true(module_tables_peek(f->tables, MODULE, &table));
	assert_int_equal(table.table->row_count, count);
}

/* Whether the page of an address is in our memory: a bit of /proc/self/pagemap. */
static bool is_resident(const void *address)
{
	uint64_t page = 0;
	uint64_t at = (uint64_t)(uintptr_t)address / (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/pagemap", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &page, sizeof(page), (off_t)(at * sizeof(page))), sizeof(page));
	assert_int_equal(close(fd), 0);
	return page >> 63;
}

static void a_table_from_the_cache_gives_its_memory_back_and_stays(void **state)
{
	struct fixture *f = *state;
	struct module_tables *later;
	struct module_table table;
	struct unwind_row last;

	assert_true(rows(f) > 0); /* now the cache has it */
	later = module_tables_new(f->files, true);
	assert_non_null(later);
	module_tables_get(later, MODULE, -1, &f->region, NULL, &table);
	assert_non_null(table.table);
	last = table.table->rows[table.table->row_count - 1];
	assert_true(is_resident(&table.table->rows[table.table->row_count - 1]));
	for (int i = 0; i < 4; i++)
		module_tables_sweep(later);
	assert_true(module_tables_peek(later, MODULE, &table));
	assert_false(is_resident(&table.table->rows[table.table->row_count - 1]));
	assert_memory_equal(&table.table->rows[table.table->row_count - 1], &last, sizeof(last));
	module_tables_free(later);
}

static void small_tables_have_the_same_rows_and_no_pages(void **state)
{
	struct fixture *f = *state;
	struct module_tables *small = module_tables_new(f->files, true);
	struct module_table table;

	assert_non_null(small);
	module_tables_get(small, MODULE, -1, &f->region, NULL, &table);
	assert_non_null(table.table);
	assert_int_equal(table.table->row_count, rows(f));
	assert_null(table.pages);
	module_tables_free(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_swept_table_comes_back_even_if_its_file_is_gone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_table_that_the_cache_has_not_stays, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_table_from_the_cache_gives_its_memory_back_and_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(small_tables_have_the_same_rows_and_no_pages,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
