/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <wick/symbolize.h>

__attribute__((noinline, used)) int known_function(int value);
int known_function(int value)
{
	return value * 5 + 2;
}

static void a_function_of_this_process_has_a_name(void **state)
{
	struct wick_symbolizer *symbolizer = NULL;
	struct wick_symbol symbol;

	assert_int_equal(wick_symbolizer_open_pid(getpid(), 0, NULL, &symbolizer, NULL), 0);
	assert_int_equal(
		wick_symbolize(symbolizer, (uint64_t)(uintptr_t)known_function + 1, &symbol), 1);
	assert_string_equal(symbol.frames[symbol.frame_count - 1].function, "known_function");
	assert_string_equal(symbol.frames[symbol.frame_count - 1].mangled, "known_function");
	assert_non_null(strstr(symbol.module, "test_api_symbolize"));
	assert_in_range(symbol.quality, WICK_SYMBOL_FULL, WICK_SYMBOL_NAME);
	if (symbol.quality == WICK_SYMBOL_FULL) {
		struct wick_symbol_details details;

		assert_non_null(strstr(symbol.frames[0].file, "test_api_symbolize.c"));
		assert_in_range(symbol.frames[0].line, 15, 18);
		assert_int_equal(wick_symbolize_details(symbolizer, &details), 0);
		assert_string_equal(details.signature, "int known_function(int)");
		assert_in_range(symbol.vaddr, details.row_start, details.row_end - 1);
	}
	wick_symbolizer_close(symbolizer);
}

static void a_file_is_asked_by_its_own_addresses(void **state)
{
	struct wick_symbolizer *live = NULL;
	struct wick_symbolizer *file = NULL;
	struct wick_symbol symbol;
	uint64_t vaddr;

	assert_int_equal(
		wick_symbolizer_open_pid(getpid(), WICK_SYMBOLIZE_NAMES_ONLY, NULL, &live, NULL),
		0);
	assert_int_equal(wick_symbolize(live, (uint64_t)(uintptr_t)known_function, &symbol), 1);
	vaddr = symbol.vaddr;
	assert_int_equal(wick_symbolizer_open_file("/proc/self/exe", WICK_SYMBOLIZE_NAMES_ONLY,
						   NULL, &file, NULL),
			 0);
	assert_int_equal(wick_symbolize(file, vaddr, &symbol), 1);
	assert_string_equal(symbol.frames[0].function, "known_function");
	assert_int_equal(symbol.quality, WICK_SYMBOL_NAME);
	assert_int_equal(wick_symbolize_details(file, &(struct wick_symbol_details){0}), -ENOENT);
	wick_symbolizer_close(live);
	wick_symbolizer_close(file);
}

static void an_address_in_no_module_is_told(void **state)
{
	struct wick_symbolizer *symbolizer = NULL;
	struct wick_symbol symbol;

	assert_int_equal(wick_symbolizer_open_pid(getpid(), 0, NULL, &symbolizer, NULL), 0);
	assert_int_equal(wick_symbolize(symbolizer, 0x10, &symbol), 0);
	assert_int_equal(symbol.quality, WICK_SYMBOL_INVALID);
	assert_string_equal(symbol.frames[0].function, "<invalid address 0x10>");
	assert_string_equal(symbol.module, "");
	assert_string_equal(symbol.build_id, "");
	wick_symbolizer_close(symbolizer);
}

static void what_cannot_be_opened_is_told(void **state)
{
	struct wick_symbolizer *symbolizer = NULL;
	struct wick_error err;

	assert_int_equal(wick_symbolizer_open_file("/nonexistent/app", 0, NULL, &symbolizer, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/app"));
	assert_int_equal(wick_symbolizer_open_pid(-1, 0, NULL, &symbolizer, &err), -EINVAL);
	assert_int_equal(wick_symbolizer_open_file(NULL, 0, NULL, &symbolizer, &err), -EINVAL);
	assert_string_equal(err.text, "the path is NULL");
	assert_int_equal(wick_symbolizer_open_pid(getpid(), 0, NULL, NULL, &err), -EINVAL);
	assert_int_equal(wick_symbolize(NULL, 0, NULL), -EINVAL);
	assert_int_equal(wick_symbolize_details(NULL, NULL), -EINVAL);
	assert_null(symbolizer);
	wick_symbolizer_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_this_process_has_a_name),
		cmocka_unit_test(a_file_is_asked_by_its_own_addresses),
		cmocka_unit_test(an_address_in_no_module_is_told),
		cmocka_unit_test(what_cannot_be_opened_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
