/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/resolver_batch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "load/names/resolver.h"

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

/* What was said of each address, in the order of asking. */
struct said {
	uint64_t addresses[64];
	char functions[64][64];
	uint64_t last; /* that was handed out */
	size_t count;
};

static int note(void *self, const struct resolved *found, size_t i)
{
	struct said *said = self;

	assert_true(found->address >= said->last);
	said->last = found->address;
	said->addresses[i] = found->address;
	strncpy(said->functions[i], found->frames[found->count - 1].function, 63);
	said->count++;
	return 0;
}

static int stop(void *self, const struct resolved *found, size_t i)
{
	(void)found;
	(void)i;
	++*(int *)self;
	return -ECANCELED;
}

static void answers_say_which_address_they_are_of(void **state)
{
	const uint64_t addresses[] = {(uint64_t)(uintptr_t)second_function, 0x20,
				      (uint64_t)(uintptr_t)first_function, 0x10,
				      (uint64_t)(uintptr_t)second_function};
	const char *const names[] = {"second_function", "<invalid address 0x20>", "first_function",
				     "<invalid address 0x10>", "second_function"};
	struct resolver *resolver = open_self();
	struct said said = {0};

	(void)state;
	assert_int_equal(resolver_batch_visit(resolver, addresses, 5, note, &said), 0);
	assert_int_equal(said.count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(said.functions[i], names[i]);
		assert_int_equal(said.addresses[i], addresses[i]);
	}
	resolver_close(resolver);
}

static void none_at_all_is_fine_and_an_error_ends_it(void **state)
{
	const uint64_t addresses[] = {1, 2};
	struct resolver *resolver = open_self();
	int calls = 0;

	(void)state;
	assert_int_equal(resolver_batch_visit(resolver, NULL, 0, stop, &calls), 0);
	assert_int_equal(resolver_batch_visit(resolver, addresses, 2, stop, &calls), -ECANCELED);
	assert_int_equal(calls, 1);
	resolver_close(resolver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_say_which_address_they_are_of),
		cmocka_unit_test(none_at_all_is_fine_and_an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
