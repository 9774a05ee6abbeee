/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/prior_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES (8u << 20)

static void test_pages_count_once_they_are_written_to(void **state)
{
	uint64_t before = prior_heap_bytes(getpid());
	void *memory =
		mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t mapped;
	uint64_t written;

	(void)state;
	if (before == 0)
		skip();
	assert_ptr_not_equal(memory, MAP_FAILED);
	mapped = prior_heap_bytes(getpid());
	memset(memory, 1, BYTES);
	written = prior_heap_bytes(getpid());
	assert_true(mapped < before + BYTES / 2);
	assert_in_range(written, mapped + BYTES, mapped + BYTES + BYTES / 2);
	assert_int_equal(munmap(memory, 2 * BYTES), 0);
}

static void test_nobody_holds_nothing(void **state)
{
	(void)state;
	assert_int_equal(prior_heap_bytes(0x7ffffff0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_count_once_they_are_written_to),
		cmocka_unit_test(test_nobody_holds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
