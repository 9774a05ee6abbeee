/* SPDX-License-Identifier: BSD-2-Clause */
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
#include "proc/cgroup_folder.h"

/* Whether a list of mounts has cgroup2, and where. */
static bool find(const char *mounts, char *ret, size_t size)
{
	char path[] = "/tmp/wick-mounts-XXXXXX";
	int fd = mkstemp(path);
	bool found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, mounts, strlen(mounts)), strlen(mounts));
	found = cgroup_mount_find(path, ret, size);
	(void)close(fd); /* it is not needed any more */
	assert_int_equal(unlink(path), 0);
	return found;
}

static void the_mount_of_cgroup2_is_found_among_others(void **state)
{
	char folder[64] = "";

	assert_true(find("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
			 "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
			 "cgroup2 /sys/fs/cgroup/all\\040of\\040it cgroup2 rw 0 0\n"
			 "cgroup2 /later cgroup2 rw 0 0\n",
			 folder, sizeof(folder)));
	assert_string_equal(folder, "/sys/fs/cgroup/all of it");
	assert_false(find("cgroup2 /sys/fs/cgroup tmpfs rw 0 0\n", folder, sizeof(folder)));
	assert_false(find("none /sys/fs/cgroup cgroup2 rw 0 0\n", folder, 5)); /* no room */
	assert_false(cgroup_mount_find("/nonexistent", folder, sizeof(folder)));
}

static void a_group_has_its_name_of_proc_as_well(void **state)
{
	char folder[4096];
	char mount[4096];
	struct error err;

	if (!cgroup_mount_find("/proc/self/mounts", mount, sizeof(mount)))
		skip();
	assert_int_equal(cgroup_folder_find(mount, folder, sizeof(folder), &err), 0);
	assert_string_equal(folder, mount);
	/* That is a folder besides: of another file system. */
	assert_int_equal(cgroup_folder_find("/", folder, sizeof(folder), &err), 0);
	assert_memory_equal(folder, mount, strlen(mount));
	/* Without its slash it may be a folder of the one at hand, which this is not. */
	assert_int_equal(cgroup_folder_find(".", folder, sizeof(folder), &err), 0);
	assert_memory_equal(folder, mount, strlen(mount));
}

static void what_is_no_group_is_refused(void **state)
{
	char folder[4096];
	struct error err;

	assert_int_equal(cgroup_folder_find("/tmp", folder, sizeof(folder), &err), -ENOENT);
	assert_non_null(strstr(err.text, "/tmp is not a control group that events can watch"));
	assert_int_equal(cgroup_folder_find("/no/such", folder, sizeof(folder), &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such control group: /no/such"));
	assert_non_null(strstr(err.remedy, "cgroup"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mount_of_cgroup2_is_found_among_others),
		cmocka_unit_test(a_group_has_its_name_of_proc_as_well),
		cmocka_unit_test(what_is_no_group_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
