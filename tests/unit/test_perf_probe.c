/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void more_access_implies_less(void **state)
{
	struct perf_probe probe;

	perf_probe(&probe);
	assert_true(probe.user <= 0 && probe.kernel <= 0 && probe.machine <= 0);
	if (probe.kernel == 0)
		assert_int_equal(probe.user, 0);
	assert_true(probe.release[0] != '\0');
	assert_true(probe.cpu[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_access_implies_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
