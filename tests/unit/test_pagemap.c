/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/pagemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES (1ull << 30)
#define FIRST (256ull << 20)
#define LAST (BYTES - 65536)

/* Memory of which two pages were touched. */
static uint64_t map_some(void)
{
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, BYTES, MADV_NOHUGEPAGE); /* a page is a page */
	memory[FIRST] = 1;
	memory[LAST + 1] = 1;
	return (uint64_t)(uintptr_t)memory;
}

static void check(int has_search)
{
	static struct pagemap map;
	uint64_t start = map_some();
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	pagemap_open(&map, getpid());
	assert_true(map.fd >= 0);
	map.has_search = has_search;
	assert_true(pagemap_next(&map, start, start + BYTES) == start + FIRST);
	assert_true(pagemap_next(&map, start + FIRST + 8, start + BYTES) == start + FIRST + 8);
	assert_true(pagemap_next(&map, start + FIRST + page, start + BYTES) == start + LAST);
	assert_true(pagemap_next(&map, start + LAST + page, start + BYTES) == start + BYTES);
	assert_true(pagemap_next(&map, start, start + FIRST) == start + FIRST);
	assert_true(pagemap_next(&map, start + 8, start + 16) == start + 16);
	assert_true(pagemap_next(&map, start + 8, start + 8) == start + 8);
	pagemap_close(&map);
	(void)munmap((void *)(uintptr_t)start, BYTES);
}

static void the_next_page_that_was_touched_is_found(void **state)
{
	(void)state;
	check(1); /* by the kernel, where it can */
	check(0);
}

static void without_the_file_all_may_be_there(void **state)
{
	static struct pagemap map;

	(void)state;
	pagemap_open(&map, INT32_MAX); /* nobody has this number */
	assert_true(map.fd < 0);
	assert_true(pagemap_next(&map, 4096, 8192) == 4096);
	pagemap_close(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_page_that_was_touched_is_found),
		cmocka_unit_test(without_the_file_all_may_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
