/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "engine/perf/event.h"

static struct event_grant grant_for(const char *name, const struct event_request *base)
{
	struct event_request request = *base;
	struct event_grant grant;

	request.kind = event_find(name, NULL);
	assert_non_null(request.kind);
	event_grant_init(&grant, &request);
	return grant;
}

static const struct event_request usual = {
	.frequency_hz = 1000, .depth = 64, .wakeup_bytes = 4096, .kernel = true, .inherit = true};

static void a_clock_is_sampled_by_period_in_nanoseconds(void **state)
{
	struct event_grant grant = grant_for("cpu-clock", &usual);

	(void)state;
	assert_int_equal(grant.attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(grant.attr.freq, 0);
	assert_int_equal(grant.attr.sample_period, 1000000);
	assert_false(grant.attr.sample_type & PERF_SAMPLE_PERIOD);
	assert_true(grant.attr.use_clockid);
	assert_int_equal(grant.attr.clockid, CLOCK_MONOTONIC);
	assert_true(grant.attr.disabled);
}

static void a_hardware_event_is_sampled_by_frequency_and_tells_its_period(void **state)
{
	struct event_grant grant = grant_for("cycles", &usual);

	(void)state;
	assert_int_equal(grant.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(grant.attr.freq, 1);
	assert_int_equal(grant.attr.sample_freq, 1000);
	assert_true(grant.attr.sample_type & PERF_SAMPLE_PERIOD);
}

static void a_rare_event_is_sampled_every_time_unless_told(void **state)
{
	struct event_request request = usual;
	struct event_grant grant = grant_for("page-faults", &request);

	(void)state;
	assert_int_equal(grant.attr.freq, 0);
	assert_int_equal(grant.attr.sample_period, 1);
	request.period = 100;
	grant = grant_for("page-faults", &request);
	assert_int_equal(grant.attr.sample_period, 100);
}

static void a_period_that_is_given_wins_over_the_rate(void **state)
{
	struct event_request request = usual;

	(void)state;
	request.period = 5000;
	request.frequency_hz = 0;
	assert_int_equal(grant_for("cpu-clock", &request).attr.sample_period, 5000);
	assert_int_equal(grant_for("cycles", &request).attr.freq, 0);
	assert_int_equal(grant_for("cycles", &request).attr.sample_period, 5000);
}

static void the_depth_is_at_most_what_the_kernel_keeps(void **state)
{
	struct event_request request = usual;
	int64_t limit = event_setting("perf_event_max_stack", 127);

	(void)state;
	assert_int_equal(grant_for("cpu-clock", &request).depth, 64);
	request.depth = 60000;
	assert_int_equal(grant_for("cpu-clock", &request).depth, limit);
}

static void without_kernel_frames_its_time_is_still_sampled(void **state)
{
	struct event_request request = usual;
	struct event_grant grant;

	(void)state;
	request.kernel = false;
	grant = grant_for("cpu-clock", &request);
	assert_true(grant.attr.exclude_callchain_kernel);
	assert_false(grant.attr.exclude_kernel);
	assert_true(grant.kernel);
}

static void threads_without_processes_are_followed_when_requested(void **state)
{
	struct event_request request = usual;
	struct event_grant grant;

	(void)state;
	request.inherit = false;
	request.inherit_thread = true;
	grant = grant_for("cpu-clock", &request);
	assert_true(grant.attr.inherit);
	assert_true(grant.attr.inherit_thread);
}

static void requests_that_an_older_kernel_does_not_know_are_dropped_one_by_one(void **state)
{
	struct event_request request = usual;
	struct event_grant grant;

	(void)state;
	request.inherit = false;
	request.inherit_thread = true;
	assert_false(grant_for("cpu-clock", &request).attr.build_id);
	request.enable_on_exec = true;
	grant = grant_for("cpu-clock", &request);
	assert_true(grant.attr.build_id);
	assert_true(event_lower(&grant, -EINVAL));
	assert_false(grant.attr.build_id);
	assert_true(event_lower(&grant, -EINVAL));
	assert_false(grant.attr.inherit_thread);
	assert_true(grant.attr.inherit);
	assert_true(grant.children_too);
	assert_false(event_lower(&grant, -EINVAL));
}

static void a_refusal_gives_up_kernel_samples_and_nothing_else(void **state)
{
	struct event_grant grant = grant_for("cpu-clock", &usual);

	(void)state;
	assert_true(event_lower(&grant, -EACCES));
	assert_true(grant.attr.exclude_kernel);
	assert_true(grant.attr.exclude_callchain_kernel);
	assert_false(grant.kernel);
	assert_false(event_lower(&grant, -EACCES));
	assert_false(event_lower(&grant, -EPERM));
}

static void a_depth_that_is_refused_falls_to_the_usual_limit(void **state)
{
	struct event_grant grant = grant_for("cpu-clock", &usual);

	(void)state;
	grant.attr.sample_max_stack = 512;
	assert_true(event_lower(&grant, -EOVERFLOW));
	assert_int_equal(grant.attr.sample_max_stack, 127);
	assert_int_equal(grant.depth, 127);
	assert_false(event_lower(&grant, -EOVERFLOW));
}

static void other_errors_are_not_negotiable(void **state)
{
	struct event_grant grant = grant_for("cpu-clock", &usual);

	(void)state;
	assert_false(event_lower(&grant, -EMFILE));
	assert_false(event_lower(&grant, -ESRCH));
	assert_false(event_lower(&grant, -ENOENT));
}

static void an_unknown_event_is_named_with_a_remedy(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(event_find("cpu-clocks", &err));
	assert_int_equal(err.code, -EINVAL);
	assert_non_null(strstr(err.text, "cpu-clocks"));
	assert_non_null(strstr(err.remedy, "wick list events"));
}

static void a_setting_that_is_not_there_has_its_fallback(void **state)
{
	(void)state;
	assert_int_equal(event_setting("no_such_setting", 42), 42);
}

static void samples_and_what_is_mapped_can_be_told_apart(void **state)
{
	const uint64_t trailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	struct event_grant grant = grant_for("cpu-clock", &usual);
	struct event_grant side;

	(void)state;
	event_grant_samples_only(&grant);
	event_grant_side(&grant, &side);
	assert_true(grant.attr.write_backward);
	assert_false(grant.attr.mmap || grant.attr.mmap2 || grant.attr.comm || grant.attr.task);
	assert_false(side.attr.write_backward);
	assert_true(side.attr.mmap && side.attr.mmap2 && side.attr.comm && side.attr.task);
	assert_int_equal(side.attr.config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(side.attr.inherit, grant.attr.inherit);
	/* Records that are no samples end alike. */
	assert_int_equal(side.attr.sample_type, trailer);
	assert_int_equal(grant.attr.sample_type & trailer, trailer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_is_sampled_by_period_in_nanoseconds),
		cmocka_unit_test(a_hardware_event_is_sampled_by_frequency_and_tells_its_period),
		cmocka_unit_test(a_rare_event_is_sampled_every_time_unless_told),
		cmocka_unit_test(a_period_that_is_given_wins_over_the_rate),
		cmocka_unit_test(the_depth_is_at_most_what_the_kernel_keeps),
		cmocka_unit_test(without_kernel_frames_its_time_is_still_sampled),
		cmocka_unit_test(threads_without_processes_are_followed_when_requested),
		cmocka_unit_test(
			requests_that_an_older_kernel_does_not_know_are_dropped_one_by_one),
		cmocka_unit_test(a_refusal_gives_up_kernel_samples_and_nothing_else),
		cmocka_unit_test(a_depth_that_is_refused_falls_to_the_usual_limit),
		cmocka_unit_test(other_errors_are_not_negotiable),
		cmocka_unit_test(an_unknown_event_is_named_with_a_remedy),
		cmocka_unit_test(a_setting_that_is_not_there_has_its_fallback),
		cmocka_unit_test(samples_and_what_is_mapped_can_be_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
