/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/relay_orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"

#define ANSWER                                                                                     \
	"{\"orders\": [{\"host\": \"a\", \"burst\": {\"rate\": 500}},"                             \
	" {\"host\": \"b\", \"burst\": {\"rate\": 700}}]}"

static void assert_answer(struct relay_orders *orders, const char *host, uint64_t now_s,
			  const char *wanted)
{
	struct bytes out = {0};

	relay_orders_answer(orders, host, now_s, &out);
	bytes_put_u8(&out, '\0');
	assert_string_equal(out.data, wanted);
	bytes_fini(&out);
}

static void an_order_is_given_once_and_to_its_host_only(void **state)
{
	struct relay_orders orders;

	relay_orders_init(&orders);
	relay_orders_keep(&orders, ANSWER, 1000);
	assert_answer(&orders, "c", 1001, "{\"relay\": true}\n");
	assert_answer(&orders, "b", 1001, "{\"relay\": true, \"burst\": {\"rate\":700}}\n");
	assert_answer(&orders, "b", 1001, "{\"relay\": true}\n");
	assert_answer(&orders, "a", 1001, "{\"relay\": true, \"burst\": {\"rate\":500}}\n");
	relay_orders_fini(&orders);
}

static void an_order_of_ten_minutes_ago_is_forgotten(void **state)
{
	struct relay_orders orders;

	relay_orders_init(&orders);
	relay_orders_keep(&orders, ANSWER, 1000);
	assert_answer(&orders, "a", 1601, "{\"relay\": true}\n");
	assert_int_equal(orders.items.count, 0);
	relay_orders_fini(&orders);
}

static void answers_that_make_no_sense_are_ignored(void **state)
{
	static const char *const answers[] = {"",
					      "{",
					      "[]",
					      "{\"orders\": 1}",
					      "{\"orders\": [1, {}, {\"host\": 2}]}",
					      "{\"orders\": [{\"host\": \"a\"}]}",
					      "{\"orders\": [{\"host\": \"a\", \"burst\": 1}]}"};
	struct relay_orders orders;

	relay_orders_init(&orders);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		relay_orders_keep(&orders, answers[i], 1000);
	assert_int_equal(orders.items.count, 0);
	relay_orders_fini(&orders);
}

static void there_are_not_more_orders_than_may_be(void **state)
{
	struct relay_orders orders;

	relay_orders_init(&orders);
	for (size_t i = 0; i < RELAY_ORDERS_MAX; i++)
		relay_orders_keep(&orders, ANSWER, 1000);
	assert_int_equal(orders.items.count, RELAY_ORDERS_MAX);
	relay_orders_fini(&orders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_is_given_once_and_to_its_host_only),
		cmocka_unit_test(an_order_of_ten_minutes_ago_is_forgotten),
		cmocka_unit_test(answers_that_make_no_sense_are_ignored),
		cmocka_unit_test(there_are_not_more_orders_than_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
