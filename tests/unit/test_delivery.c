/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/delivery.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static void who_cannot_write_a_window_hears_where(void **state)
{
	char folder[] = "/tmp/wick-test-XXXXXX";
	struct delivery_config config = {
		.spool = {.folder = folder, .max_bytes = 1u << 20, .max_age_s = 1000}};
	struct delivery *delivery = NULL;
	struct agent_output output;
	struct error err = {0};
	char command[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(delivery_open(&config, &delivery, &err), 0);
	output = delivery_output(delivery);
	fd = output.begin(output.self, "host-1-1", &err);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	(void)error_errno(&err, -ENOSPC, "cannot write a window");
	assert_int_equal(output.end(output.self, NULL, &err), 0);
	assert_int_equal(err.code, -ENOSPC);
	assert_non_null(strstr(err.text, folder));
	assert_non_null(strstr(err.text, "cannot write a window"));
	assert_non_null(strstr(err.remedy, folder));
	assert_non_null(strstr(err.remedy, "--spool"));
	delivery_close(delivery);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_cannot_write_a_window_hears_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
