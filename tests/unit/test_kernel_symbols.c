/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/kernel_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static int read_text(const char *text, struct kernel_symbols **ret, struct error *err)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[64];
	int r;

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = kernel_symbols_read(path, ret, err);
	(void)close(fd);
	return r;
}

static struct kernel_symbols *must_read(const char *text)
{
	struct kernel_symbols *symbols = NULL;
	struct error err = {0};

	assert_int_equal(read_text(text, &symbols, &err), 0);
	return symbols;
}

static const char *find(const struct kernel_symbols *symbols, uint64_t address)
{
	struct kernel_symbol symbol;

	return kernel_symbols_find(symbols, address, &symbol) ? symbol.name : "none";
}

static void text_symbols_are_found_and_data_is_not(void **state)
{
	struct kernel_symbols *symbols = must_read("ffff800080010000 T _stext\n"
						   "ffff800080010040 t helper\n"
						   "ffff800080010080 D jiffies\n"
						   "ffff8000800100c0 W weak_one\n");

	assert_int_equal(kernel_symbols_count(symbols), 3);
	assert_string_equal(find(symbols, 0xffff80008000ffff), "none");
	assert_string_equal(find(symbols, 0xffff80008001003f), "_stext");
	assert_string_equal(find(symbols, 0xffff800080010090), "helper");
	assert_string_equal(find(symbols, 0xffff8000800100c0), "weak_one");
	kernel_symbols_free(symbols);
}

static void a_module_symbol_names_its_module(void **state)
{
	struct kernel_symbols *symbols = must_read("ffff800080010000 T _stext\n"
						   "ffff80007a5c1000 t ext4_fill\t[ext4]\n"
						   "ffff80007a5c1100 t ext4_sync\t[ext4]\n");
	struct kernel_symbol symbol;

	assert_true(kernel_symbols_find(symbols, 0xffff80007a5c1004, &symbol));
	assert_string_equal(symbol.name, "ext4_fill");
	assert_string_equal(symbol.module, "ext4");
	assert_int_equal(symbol.size, 0x100);
	assert_true(kernel_symbols_find(symbols, 0xffff800080010004, &symbol));
	assert_string_equal(symbol.module, "");
	kernel_symbols_free(symbols);
}

static void the_last_symbol_of_a_module_does_not_swallow_what_follows(void **state)
{
	struct kernel_symbols *symbols = must_read("ffff80007a5c1000 t ext4_sync\t[ext4]\n"
						   "ffff800080010000 T _stext\n");

	assert_string_equal(find(symbols, 0xffff80007a5c1fff), "ext4_sync");
	assert_string_equal(find(symbols, 0xffff80007b000000), "none");
	assert_string_equal(find(symbols, 0xffff800080110000), "none");
	kernel_symbols_free(symbols);
}

static void aliases_give_way_to_the_global_and_plain_name(void **state)
{
	struct kernel_symbols *symbols = must_read("ffff800080010000 t aaa\n"
						   "ffff800080010000 T __sys_read\n"
						   "ffff800080010000 T ksys_read\n"
						   "ffff800080010000 W sys\n");

	assert_int_equal(kernel_symbols_count(symbols), 1);
	assert_string_equal(find(symbols, 0xffff800080010000), "ksys_read");
	kernel_symbols_free(symbols);
}

static void zero_addresses_are_reported_with_a_remedy(void **state)
{
	struct kernel_symbols *symbols = NULL;
	struct error err = {0};

	assert_int_equal(
		read_text("0000000000000000 T _stext\n0000000000000000 t x\n", &symbols, &err),
		-EPERM);
	assert_non_null(strstr(err.text, "kptr_restrict"));
	assert_non_null(strstr(err.remedy, "sysctl kernel.kptr_restrict=0"));
	assert_null(symbols);
}

static void an_empty_or_absent_file_is_an_error(void **state)
{
	struct kernel_symbols *symbols = NULL;
	struct error err = {0};

	assert_int_equal(read_text("", &symbols, &err), -ENODATA);
	assert_int_equal(kernel_symbols_read("/nonexistent", &symbols, &err), -ENOENT);
}

static void broken_lines_are_skipped(void **state)
{
	struct kernel_symbols *symbols = must_read("zzz T bad\n"
						   "\n"
						   "ffff\n"
						   "ffff800080010000\n"
						   "ffff800080010000 T\n"
						   "ffff800080010000 T \n"
						   "11112222333344445 T too_long\n"
						   "ffff800080020000 T $x\n"
						   "ffff800080030000 t open\t[\n"
						   "ffff800080040000 T good");

	assert_int_equal(kernel_symbols_count(symbols), 2);
	assert_string_equal(find(symbols, 0xffff800080040000), "good");
	kernel_symbols_free(symbols);
}

static void lines_may_straddle_the_read_buffer(void **state)
{
	enum { LINES = 20000 };
	char *text = malloc(LINES * 40);
	struct kernel_symbols *symbols;
	size_t used = 0;

	for (unsigned int i = 0; i < LINES; i++)
		used += (size_t)snprintf(text + used, 40, "%016llx t function_%u\n",
					 0xffff800080000000ull + i * 16, i);
	symbols = must_read(text);
	assert_int_equal(kernel_symbols_count(symbols), LINES);
	assert_string_equal(find(symbols, 0xffff800080000000ull + 12345 * 16), "function_12345");
	kernel_symbols_free(symbols);
	free(text);
}

static void symbols_of_a_recording_are_added_in_any_order(void **state)
{
	struct kernel_symbols *symbols = kernel_symbols_new();
	struct kernel_symbol symbol;

	assert_int_equal(kernel_symbols_add(symbols, 0x3000, 0, "c", "mod"), 0);
	assert_int_equal(kernel_symbols_add(symbols, 0x1000, 0, "a", NULL), 0);
	assert_int_equal(kernel_symbols_add(symbols, 0x2000, 0, "b", ""), 0);
	assert_int_equal(kernel_symbols_finish(symbols), 0);
	assert_string_equal(find(symbols, 0x1fff), "a");
	assert_true(kernel_symbols_find(symbols, 0x3000, &symbol));
	assert_string_equal(symbol.module, "mod");
	assert_string_equal(kernel_symbols_at(symbols, 1).name, "b");
	kernel_symbols_free(symbols);
}

static void an_empty_table_finds_nothing(void **state)
{
	struct kernel_symbols *symbols = kernel_symbols_new();

	assert_int_equal(kernel_symbols_finish(symbols), 0);
	assert_string_equal(find(symbols, UINT64_MAX), "none");
	kernel_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_symbols_are_found_and_data_is_not),
		cmocka_unit_test(a_module_symbol_names_its_module),
		cmocka_unit_test(the_last_symbol_of_a_module_does_not_swallow_what_follows),
		cmocka_unit_test(aliases_give_way_to_the_global_and_plain_name),
		cmocka_unit_test(zero_addresses_are_reported_with_a_remedy),
		cmocka_unit_test(an_empty_or_absent_file_is_an_error),
		cmocka_unit_test(broken_lines_are_skipped),
		cmocka_unit_test(lines_may_straddle_the_read_buffer),
		cmocka_unit_test(symbols_of_a_recording_are_added_in_any_order),
		cmocka_unit_test(an_empty_table_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
