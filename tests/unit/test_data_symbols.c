/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/data_symbols.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf/elf.h"

/* Looked for in this program itself. */
struct shards {
	int before[4];
	int lock[4];
};

extern struct shards shards;
struct shards shards = {.before = {1}};
extern int zero_at_start[8];
int zero_at_start[8];
extern int __attribute__((alias("zero_at_start"))) __other_name[8];
static _Thread_local int of_a_thread;

static int keep_bias(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	*(uint64_t *)ret = info->dlpi_addr;
	return 1; /* the program comes first */
}

static int set_up(void **state)
{
	static struct data_symbols symbols;
	struct elf_file *elf = NULL;

	symbols = (struct data_symbols){0};
	assert_int_equal(elf_open("/proc/self/exe", &elf, NULL), 0);
	assert_int_equal(data_symbols_add(&symbols, elf), 0);
	data_symbols_sort(&symbols);
	elf_close(elf);
	*state = &symbols;
	return 0;
}

static int tear_down(void **state)
{
	data_symbols_fini(*state);
	return 0;
}

static uint64_t vaddr_of(const void *variable)
{
	uint64_t bias = 0;

	(void)dl_iterate_phdr(keep_bias, &bias);
	return (uintptr_t)variable - bias;
}

static void variables_are_found_by_any_of_their_addresses(void **state)
{
	uint64_t offset = 1;

	assert_string_equal(data_symbols_find(*state, vaddr_of(&shards), &offset), "shards");
	assert_int_equal(offset, 0);
	assert_string_equal(data_symbols_find(*state, vaddr_of(&shards.lock), &offset), "shards");
	assert_int_equal(offset, offsetof(struct shards, lock));
	assert_string_equal(data_symbols_find(*state, vaddr_of(&zero_at_start[7]) + 3, &offset),
			    "zero_at_start");
	assert_int_equal(offset, sizeof(zero_at_start) - 1);
}

static void of_two_names_the_nicer_one_is_taken(void **state)
{
	uint64_t offset;

	assert_ptr_equal(__other_name, zero_at_start);
	assert_string_equal(data_symbols_find(*state, vaddr_of(__other_name), &offset),
			    "zero_at_start");
}

static void what_no_variable_covers_has_no_name(void **state)
{
	uint64_t offset;

	assert_null(data_symbols_find(*state, 0, &offset));
	assert_null(data_symbols_find(*state, UINT64_MAX, &offset));
	/* Functions are none, nor is what each thread has for itself, which begins at 0. */
	assert_null(data_symbols_find(*state, vaddr_of((const void *)(uintptr_t)set_up), &offset));
	of_a_thread++;
	assert_null(data_symbols_find(*state, 4, &offset));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(variables_are_found_by_any_of_their_addresses),
		TEST(of_two_names_the_nicer_one_is_taken),
		TEST(what_no_variable_covers_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
