/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/unnamed_modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "store/store.h"

/* Module number n, with this last address. */
static void note(struct unnamed_modules *modules, unsigned int n, uint32_t last_id)
{
	char hex[17];
	struct store_unnamed_module unnamed = {
		.build_id = hex, .path = "/lib/x.so", .addresses = 1, .last_id = last_id};

	(void)snprintf(hex, sizeof(hex), "%016x", n);
	unnamed_modules_note(modules, &unnamed);
}

static struct unnamed_module *find(struct unnamed_modules *modules, unsigned int n)
{
	struct build_id id;
	char hex[17];

	(void)snprintf(hex, sizeof(hex), "%016x", n);
	assert_true(build_id_parse(hex, &id));
	return unnamed_modules_find(modules, &id);
}

/* Searches if it is due. */
static bool search(struct unnamed_module *known, bool has_symbols, uint64_t now_s)
{
	struct unnamed_module before = *known;

	if (!unnamed_module_begin_search(known, now_s))
		return false;
	unnamed_module_end_search(known, &before, has_symbols, false, now_s);
	return true;
}

static void a_module_without_symbols_waits_longer_each_time(void **state)
{
	struct unnamed_modules modules = {.generation = 0};
	unsigned int searches = 0;
	struct unnamed_module *known;

	(void)state;
	note(&modules, 1, 5);
	known = find(&modules, 1);
	for (uint64_t now_s = 0; now_s < 86400; now_s++)
		searches += search(known, false, now_s);
	assert_in_range(searches, 80, 110); /* about every 16 minutes at last */
	assert_int_equal(known->state, NAMING_LACKS);
	unnamed_module_renew(known);
	assert_true(search(known, true, 86400)); /* at once, all of them */
	assert_int_equal(known->state, NAMING_FOUND);
	assert_int_equal(known->next_id, 6);
	assert_false(search(known, true, 86401));
	note(&modules, 1, 9); /* with symbols, what is new is looked up at once */
	assert_true(search(known, true, 86401));
	unnamed_modules_fini(&modules);
}

static void symbols_that_come_during_a_search_are_not_forgotten(void **state)
{
	struct unnamed_modules modules = {.generation = 0};
	struct unnamed_module *known;
	struct unnamed_module before;

	(void)state;
	note(&modules, 1, 5);
	known = find(&modules, 1);
	assert_true(search(known, true, 1));
	note(&modules, 1, 9);
	before = *known;
	assert_true(unnamed_module_begin_search(known, 2));
	unnamed_module_renew(known);
	unnamed_module_end_search(known, &before, false, false, 2);
	assert_int_equal(known->next_id, 0);
	assert_true(search(known, true, 2));
	unnamed_modules_fini(&modules);
}

static void ids_of_another_generation_are_looked_up_again(void **state)
{
	struct store_unnamed_module unnamed = {.build_id = "0000000000000002",
					       .path = "/lib/y.so",
					       .addresses = 1,
					       .last_id = 3,
					       .generation = 1};
	struct unnamed_modules modules = {.generation = 0};

	(void)state;
	note(&modules, 1, 5);
	assert_true(search(find(&modules, 1), true, 1));
	unnamed_modules_note(&modules, &unnamed);
	assert_int_equal(find(&modules, 1)->next_id, 0);
	unnamed_modules_fini(&modules);
}

/* Whoever has sent many invented build ids must not keep out those that come later. */
static void the_newest_modules_are_known(void **state)
{
	struct unnamed_modules modules = {.max = 3};

	(void)state;
	for (unsigned int pass = 0; pass < 2; pass++) {
		unnamed_modules_begin(&modules);
		for (unsigned int n = 1; n <= 20; n++)
			note(&modules, n, 100 + n);
		unnamed_modules_end(&modules);
		assert_int_equal(modules.items.count, 3);
		assert_null(find(&modules, 17));
		for (unsigned int n = 18; n <= 20; n++)
			assert_int_equal(find(&modules, n)->last_id, 100 + n);
		if (pass == 0)
			assert_true(search(find(&modules, 20), false, 1));
	}
	assert_int_equal(find(&modules, 20)->searched, 1); /* it is the same one still */
	/* Those whose addresses have names go first. */
	unnamed_modules_begin(&modules);
	note(&modules, 18, 118);
	note(&modules, 1, 101);
	note(&modules, 2, 102);
	unnamed_modules_end(&modules);
	assert_non_null(find(&modules, 1));
	assert_null(find(&modules, 20));
	unnamed_modules_fini(&modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_without_symbols_waits_longer_each_time),
		cmocka_unit_test(symbols_that_come_during_a_search_are_not_forgotten),
		cmocka_unit_test(ids_of_another_generation_are_looked_up_again),
		cmocka_unit_test(the_newest_modules_are_known),
	};

	return cmocka_run_group_tests_name("unnamed_modules", tests, NULL, NULL);
}
