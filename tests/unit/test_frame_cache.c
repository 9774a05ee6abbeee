/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/frame_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbol/symboliser.h"

static void add(struct frame_cache *cache, uint32_t module, uint64_t address, uint32_t line)
{
	struct symbol_frame frames[2] = {{.function = "f", .line = line}, {.function = "g"}};

	assert_non_null(frame_cache_add(cache, module, address, frames, 2, (int)line));
}

static uint32_t line_at(struct frame_cache *cache, uint32_t module, uint64_t address)
{
	const struct symbol_frame *frames;
	size_t count = 0;
	int tag = 0;

	frames = frame_cache_find(cache, module, address, &count, &tag);
	if (!frames)
		return 0;
	assert_int_equal(count, 2);
	assert_int_equal(tag, frames[0].line);
	assert_string_equal(frames[1].function, "g");
	return frames[0].line;
}

static void an_answer_is_found_by_module_and_address(void **state)
{
	struct frame_cache *cache = frame_cache_new(10);

	assert_int_equal(line_at(cache, 1, 0x10), 0);
	add(cache, 1, 0x10, 5);
	add(cache, 2, 0x10, 6);
	assert_int_equal(line_at(cache, 1, 0x10), 5);
	assert_int_equal(line_at(cache, 2, 0x10), 6);
	assert_int_equal(line_at(cache, 1, 0x11), 0);
	frame_cache_clear(cache);
	assert_int_equal(line_at(cache, 1, 0x10), 0);
	frame_cache_free(cache);
	frame_cache_free(NULL);
}

static void the_one_used_longest_ago_goes_first(void **state)
{
	struct frame_cache *cache = frame_cache_new(3);

	add(cache, 1, 1, 1);
	add(cache, 1, 2, 2);
	add(cache, 1, 3, 3);
	assert_int_equal(line_at(cache, 1, 1), 1);
	add(cache, 1, 4, 4);
	assert_int_equal(line_at(cache, 1, 2), 0);
	assert_int_equal(line_at(cache, 1, 1), 1);
	assert_int_equal(line_at(cache, 1, 3), 3);
	assert_int_equal(line_at(cache, 1, 4), 4);
	frame_cache_free(cache);
}

static void many_more_than_fit_come_and_go(void **state)
{
	struct frame_cache *cache = frame_cache_new(100);

	for (uint32_t i = 1; i <= 10000; i++)
		add(cache, i % 7, i, i);
	for (uint32_t i = 1; i <= 9900; i++)
		assert_int_equal(line_at(cache, i % 7, i), 0);
	for (uint32_t i = 9901; i <= 10000; i++)
		assert_int_equal(line_at(cache, i % 7, i), i);
	frame_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_found_by_module_and_address),
		cmocka_unit_test(the_one_used_longest_ago_goes_first),
		cmocka_unit_test(many_more_than_fit_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
