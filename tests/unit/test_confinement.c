/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/confinement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOT_BYTES 64

/* The folders that the files of these tests are in, the outer first. */
static const char *const folders[] = {
	"",     "/proc",       "/proc/self",           "/run", "/run/systemd",
	"/sys", "/sys/kernel", "/sys/kernel/security", "/dev", "/dev/shm",
};

#define FOLDERS (sizeof(folders) / sizeof(*folders))

/* What is found out where one file has this text. */
static void look(const char *path, const char *text, struct confinement *ret)
{
	char root[ROOT_BYTES] = "/tmp/wick-confinement-XXXXXX";
	char whole[256];
	FILE *file;

	assert_non_null(mkdtemp(root));
	for (size_t i = 1; i < FOLDERS; i++) {
		(void)snprintf(whole, sizeof(whole), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(whole, 0700), 0);
	}
	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	confinement_read(ret, root);
	assert_int_equal(unlink(whole), 0);
	for (size_t i = FOLDERS; i-- > 0;) {
		(void)snprintf(whole, sizeof(whole), "%s%s", root, folders[i]);
		assert_int_equal(rmdir(whole), 0);
	}
}

static void a_container_is_known_by_what_its_engine_leaves(void **state)
{
	static const struct {
		const char *path, *text, *container;
	} cases[] = {
		{"/.dockerenv", "", "docker"},
		{"/run/.containerenv", "engine=\"podman\"\n", "podman"},
		{"/proc/self/cgroup", "0::/kubepods.slice/docker-1.scope\n", "kubernetes"},
		{"/proc/self/cgroup", "0::/system.slice/docker-1.scope\n", "docker"},
		{"/proc/self/cgroup", "0::/user.slice\n", ""},
		{"/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct confinement found;

		look(cases[i].path, cases[i].text, &found);
		assert_string_equal(found.container, cases[i].container);
		assert_string_equal(found.lockdown, "");
		assert_true(found.shared_memory && found.shared_bytes > 0);
		assert_false(found.lacks_proc || found.lacks_sys);
	}
}

static void the_level_of_a_lockdown_is_the_one_in_brackets(void **state)
{
	struct confinement found;

	look("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n", &found);
	assert_string_equal(found.lockdown, "integrity");
	look("/sys/kernel/security/lockdown", "broken", &found);
	assert_string_equal(found.lockdown, "");
}

static void where_there_is_nothing_nothing_is_found(void **state)
{
	struct confinement found;

	confinement_read(&found, "/not/there");
	assert_string_equal(found.container, "");
	assert_false(found.shared_memory);
	assert_int_equal(found.shared_bytes, 0);
	assert_true(found.lacks_proc && found.lacks_sys);
	for (int i = 0; found.seccomp == 0 && i < CONFINED_CALLS; i++)
		assert_false(found.refused[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_is_known_by_what_its_engine_leaves),
		cmocka_unit_test(the_level_of_a_lockdown_is_the_one_in_brackets),
		cmocka_unit_test(where_there_is_nothing_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
