/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/query_time.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"

#define NOW 1763301900u /* 2025-11-16T14:05:00Z, a Sunday */

static void times_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t time_s;
	} right[] = {
		{"now", NOW},
		{"-15m", NOW - 900},
		{"-1h", NOW - 3600},
		{"-90", NOW - 90},
		{"-7d", NOW - 7 * 86400},
		{"-2w", NOW - 14 * 86400},
		{"-100000d", 0},
		{"1763300000", 1763300000},
		{"14:05", NOW},
		{"14:04", NOW - 60},
		{"14:04:30", NOW - 30},
		{"14:06", NOW + 60 - 86400}, /* the last one was yesterday */
		{"2025-11-16T14:00:00Z", NOW - 300},
		{"2025-11-16T15:00:00+01:00", NOW - 300},
		{"2025-11-16T13:30:00-0030", NOW - 300},
		{"2025-11-16T14:00", NOW - 300},
		{"2025-11-16", NOW - 14 * 3600 - 300},
	};
	size_t i;

	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct error err = {0};
		uint64_t time_s = 1;

		if (query_time_parse(right[i].text, NOW, &time_s, &err) < 0)
			fail_msg("%s: %s", right[i].text, err.text);
		if (time_s != right[i].time_s)
			fail_msg("%s: %llu", right[i].text, (unsigned long long)time_s);
	}
}

static void anything_else_is_refused_with_the_syntax(void **state)
{
	static const char *const wrong[] = {"",           "tea",         "-",     "-tea",
					    "25:00",      "-1x",         "14:5x", "+15m",
					    "2025-13-01", "99999999999", "-d"};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err = {0};
		uint64_t time_s;

		if (query_time_parse(wrong[i], NOW, &time_s, &err) != -EINVAL)
			fail_msg("%s", wrong[i]);
		assert_true(err.remedy[0] != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_as_people_write_them),
		cmocka_unit_test(anything_else_is_refused_with_the_syntax),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
