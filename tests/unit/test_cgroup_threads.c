/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "proc/cgroup_threads.h"
#include "proc/process_info.h"

static char folder[] = "/tmp/wick-cgroup-XXXXXX";

/* A folder with the file of a control group. */
static void make_group(const char *below, const char *threads)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s%s", folder, below);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	(void)snprintf(path, sizeof(path), "%s%s/cgroup.threads", folder, below);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(threads, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void threads_of_the_groups_below_are_listed_too(void **state)
{
	struct pid_list list = {0};
	char path[128];

	(void)state;
	assert_non_null(mkdtemp(folder));
	make_group("", "12\n0\n13\n"); /* 0 is in another namespace */
	make_group("/a", "14\n");
	make_group("/a/b", "15\n16\n");
	make_group("/c", "");
	/* What is no group of the hierarchy is not followed. */
	(void)snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink("/", path), 0);
	assert_int_equal(cgroup_list_threads(folder, &list, NULL), 0);
	assert_int_equal(list.count, 5);
	vec_fini(&list);
	(void)snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	struct pid_list list = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(cgroup_list_threads("/no/such/group", &list, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/group"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_the_groups_below_are_listed_too),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
