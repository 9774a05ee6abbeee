/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "engine/perf/probe_event.h"

/* A file that has one function. */
static int only_one_function(void *self, const char *path, const char *function,
			     uint64_t *ret_offset, struct error *err)
{
	(void)self;
	if (strcmp(path, "/lib/a:b.so") != 0 || strcmp(function, "there") != 0)
		return error_set(err, -EINVAL, "no %s in %s", function, path);
	*ret_offset = 0x1000;
	return 0;
}

static int find(const char *name, struct probe_event *event)
{
	return probe_event_find(name, only_one_function, NULL, event, NULL);
}

static void a_colon_makes_a_place(void **state)
{
	(void)state;
	assert_true(probe_event_is("sched:sched_switch"));
	assert_true(probe_event_is("uprobe:/bin/ls:main"));
	assert_false(probe_event_is("cpu-clock"));
}

static void a_function_is_its_file_and_offset(void **state)
{
	struct probe_event event;

	(void)state;
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK) < 0)
		skip();
	assert_int_equal(find("uprobe:/lib/a:b.so:there", &event), 0);
	assert_string_equal((const char *)(uintptr_t)event.kind.config1, "/lib/a:b.so");
	assert_int_equal(event.kind.config2, 0x1000);
	assert_int_equal(event.kind.config, 0);
	assert_string_equal(event.kind.name, "uprobe:/lib/a:b.so:there");
	assert_int_equal(find("uprobe:/lib/a:b.so:there+0x10", &event), 0);
	assert_int_equal(event.kind.config2, 0x1010);
	assert_int_equal(find("uretprobe:/lib/a:b.so:there", &event), 0);
	assert_int_equal(event.kind.config, 1);
	assert_int_equal(find("uprobe:/bin/ls:0x1234", &event), 0);
	assert_int_equal(event.kind.config2, 0x1234);
}

static void what_is_no_place_is_refused(void **state)
{
	static const char *const names[] = {
		":",
		"a:",
		":b",
		"../a:b",
		"a:../b",
		"a:b/c",
		"uprobe:",
		"uprobe:/bin/ls",
		"uprobe:/bin/ls:",
		"uprobe::main",
		"uprobe:/lib/a:b.so:gone",
		"uprobe:/lib/a:b.so:there+",
		"uprobe:/lib/a:b.so:there+x",
		"uprobe:/bin/ls:0xzz",
	};
	struct probe_event event;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(find(names[i], &event) < 0);
}

static void a_name_without_end_is_refused(void **state)
{
	struct probe_event event;
	char name[4096];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[1] = ':';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(find(name, &event), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_colon_makes_a_place),
		cmocka_unit_test(a_function_is_its_file_and_offset),
		cmocka_unit_test(what_is_no_place_is_refused),
		cmocka_unit_test(a_name_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
