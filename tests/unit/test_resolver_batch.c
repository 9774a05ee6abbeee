/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/resolver_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

__attribute__((noinline, used)) int first_function(int value);
int first_function(int value)
{
	return value * 5 + 2;
}

__attribute__((noinline, used)) int second_function(int value);
int second_function(int value)
{
	return value * 7 + 1;
}

static struct resolver *open_self(void)
{
	struct resolver_config config = {
		.pid = getpid(), .detail = SYMBOLS_INLINES, .no_disk_cache = true};
	struct resolver *resolver = NULL;

	assert_int_equal(resolver_open(&config, &resolver, NULL), 0);
	return resolver;
}

static const char *function_of(const struct resolver_batch *batch, size_t i)
{
	struct resolved found = resolver_batch_at(batch, i);

	return found.frames[found.count - 1].function;
}

static void answers_come_in_the_order_of_asking(void **state)
{
	const uint64_t addresses[] = {(uint64_t)(uintptr_t)second_function, 0x20,
				      (uint64_t)(uintptr_t)first_function, 0x10,
				      (uint64_t)(uintptr_t)second_function};
	const char *const names[] = {"second_function", "<invalid address 0x20>", "first_function",
				     "<invalid address 0x10>", "second_function"};
	struct resolver *resolver = open_self();
	struct resolver_batch batch = {0};

	(void)state;
	for (size_t round = 0; round < 2; round++) { /* what was there before is gone */
		assert_int_equal(resolver_batch_find(&batch, resolver, addresses, 5), 0);
		for (size_t i = 0; i < 5; i++) {
			assert_string_equal(function_of(&batch, i), names[i]);
			assert_int_equal(resolver_batch_at(&batch, i).address, addresses[i]);
		}
	}
	resolver_batch_fini(&batch);
	resolver_close(resolver);
}

static void a_batch_answers_as_one_address_does(void **state)
{
	uint64_t addresses[64];
	struct resolver *resolver = open_self();
	struct resolver_batch batch = {0};

	(void)state;
	for (size_t i = 0; i < 64; i++)
		addresses[i] = (uint64_t)(uintptr_t)first_function + (i * 37) % 64;
	assert_int_equal(resolver_batch_find(&batch, resolver, addresses, 64), 0);
	for (size_t i = 0; i < 64; i++) {
		struct resolved many = resolver_batch_at(&batch, i), one;

		resolver_find(resolver, addresses[i], &one);
		assert_int_equal(many.quality, one.quality);
		assert_int_equal(many.count, one.count);
		assert_int_equal(many.vaddr, one.vaddr);
		for (size_t k = 0; k < one.count; k++) {
			assert_string_equal(many.frames[k].function, one.frames[k].function);
			assert_int_equal(many.frames[k].line, one.frames[k].line);
		}
	}
	resolver_batch_fini(&batch);
	resolver_close(resolver);
}

static void none_at_all_is_fine(void **state)
{
	struct resolver *resolver = open_self();
	struct resolver_batch batch = {0};

	(void)state;
	assert_int_equal(resolver_batch_find(&batch, resolver, NULL, 0), 0);
	resolver_batch_fini(&batch);
	resolver_close(resolver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_in_the_order_of_asking),
		cmocka_unit_test(a_batch_answers_as_one_address_does),
		cmocka_unit_test(none_at_all_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
