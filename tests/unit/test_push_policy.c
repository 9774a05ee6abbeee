/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/push_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/burst_order.h"
#include "agent/watch_order.h"

static void an_answer_says_what_becomes_of_a_window(void **state)
{
	static const struct {
		int status;
		enum push_verdict verdict;
	} cases[] = {
		{200, PUSH_STORED},  {204, PUSH_STORED}, {400, PUSH_REFUSED}, {413, PUSH_REFUSED},
		{422, PUSH_REFUSED}, {401, PUSH_LATER},  {403, PUSH_LATER},   {404, PUSH_LATER},
		{408, PUSH_LATER},   {429, PUSH_LATER},  {500, PUSH_LATER},   {503, PUSH_LATER},
		{301, PUSH_LATER},   {0, PUSH_LATER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(push_verdict_of(cases[i].status), cases[i].verdict);
}

static void waits_double_up_to_a_minute_and_differ_between_agents(void **state)
{
	(void)state;
	assert_int_equal(push_wait_ms(1, 0, 0), 500);
	assert_int_equal(push_wait_ms(1, 0, 500), 1000);
	assert_int_equal(push_wait_ms(2, 0, 0), 1000);
	assert_int_equal(push_wait_ms(4, 0, 0), 4000);
	assert_int_equal(push_wait_ms(100, 0, 0), 30000);
	assert_true(push_wait_ms(1000000, 0, UINT32_MAX) <= 60000);
}

static void a_server_says_when_to_come_back_within_limits(void **state)
{
	(void)state;
	assert_int_equal(push_wait_ms(1, 30, 0), 30000);
	assert_int_equal(push_wait_ms(9, 2, 0), 2000);
	assert_int_equal(push_wait_ms(1, UINT64_MAX, 0), 600000);
}

static void orders_are_limited_and_nonsense_is_none(void **state)
{
	static const char *const none[] = {"",
					   "{",
					   "[]",
					   "{}",
					   "{\"burst\": 7}",
					   "{\"burst\": {\"rate\": -1, \"seconds\": 5}}",
					   "{\"burst\": {\"rate\": 10}}",
					   "{\"burst\": {\"rate\": \"x\", \"seconds\": 5}}"};
	struct burst_order order;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(burst_order_parse(none[i], &order));
	assert_true(burst_order_parse("{\"burst\": {\"rate\": 100000, \"seconds\": 86400, "
				      "\"service\": \"shop\", \"id\": \"b1\"}}",
				      &order));
	assert_int_equal(order.rate_hz, 1000);
	assert_int_equal(order.seconds, 600);
	assert_string_equal(order.service, "shop");
	assert_string_equal(order.id, "b1");
}

static void windows_are_as_long_as_a_server_may_ask(void **state)
{
	(void)state;
	assert_int_equal(watch_order_parse("{\"rows\": 2, \"window_s\": 10}"), 10);
	assert_int_equal(watch_order_parse("{\"window_s\": 1}"), 5);
	assert_int_equal(watch_order_parse("{\"window_s\": 86400}"), 600);
	assert_int_equal(watch_order_parse("{\"window_s\": -7}"), 0);
	assert_int_equal(watch_order_parse("{\"window_s\": \"5\"}"), 0);
	assert_int_equal(watch_order_parse("{"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_says_what_becomes_of_a_window),
		cmocka_unit_test(waits_double_up_to_a_minute_and_differ_between_agents),
		cmocka_unit_test(a_server_says_when_to_come_back_within_limits),
		cmocka_unit_test(orders_are_limited_and_nonsense_is_none),
		cmocka_unit_test(windows_are_as_long_as_a_server_may_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
