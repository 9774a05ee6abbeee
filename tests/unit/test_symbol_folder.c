/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/symbol_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"

/* Whoever waits holds a place that pushes need. */
static void an_upload_does_not_wait_for_another(void **state)
{
	static const struct build_id id = {.size = 8};
	char path[] = "/tmp/wick-symbols-XXXXXX";
	struct symbol_folder folder;
	struct error err = {0};
	char inner[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(symbol_folder_open(&folder, path, 1 << 20, &err), 0);
	(void)pthread_mutex_lock(&folder.upload_lock); /* as one that is being read */
	assert_int_equal(symbol_folder_take(&folder, &id, "x", 1, &err), -EBUSY);
	assert_true(err.text[0] && err.remedy[0]);
	assert_int_equal(symbol_folder_stats(&folder).files, 0); /* neither do questions */
	(void)pthread_mutex_unlock(&folder.upload_lock);
	assert_int_equal(symbol_folder_take(&folder, &id, "x", 1, &err), -EINVAL);
	symbol_folder_close(&folder);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id", path);
	assert_int_equal(remove(inner), 0);
	assert_int_equal(remove(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_upload_does_not_wait_for_another),
	};

	return cmocka_run_group_tests_name("symbol_folder", tests, NULL, NULL);
}
