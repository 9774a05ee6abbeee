/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/table_builder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file/cache_dir.h"
#include "model/entity.h"
#include "symbol/debug_file.h"
#include "symbol/disk_table.h"

/* The module is the C library, which is large. */
struct fixture {
	char path[64];
	struct cache_dir dir;
	struct symbol_search search;
	struct module module;
	struct file_identity file;
	struct table_builder builder;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct stat status;
	Dl_info libc;

	f = (struct fixture){.path = "/tmp/wick-test-XXXXXX"};
	assert_non_null(mkdtemp(f.path));
	assert_int_equal(cache_dir_init(&f.dir, f.path, "x", DISK_TABLE_SUFFIX, 1u << 30), 0);
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &libc));
	assert_int_equal(stat(libc.dli_fname, &status), 0);
	f.file = file_identity_of(&status);
	f.search.tables = &f.dir;
	f.module = (struct module){.kind = MODULE_FILE, .path = libc.dli_fname};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];

	table_builder_fini(&f->builder);
	cache_dir_fini(&f->dir);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->path);
	assert_int_equal(system(command), 0);
	return 0;
}

static void it_is_ready_when_the_table_is_there(void **state)
{
	struct fixture *f = *state;

	assert_false(disk_table_exists(&f->dir, &f->file));
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, 0),
			 TABLE_PENDING);
	assert_true(f->builder.pid > 0);
	assert_int_equal(sched_getscheduler(f->builder.pid), SCHED_IDLE);
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_READY);
	assert_int_equal(f->builder.pid, 0);
	assert_true(disk_table_exists(&f->dir, &f->file));
	assert_int_equal(table_builder_look(&f->builder, &f->module, 4, &f->search, 0),
			 TABLE_READY);
	assert_int_equal(f->builder.pid, 0); /* nothing was to be done */
}

static void who_waits_need_not_ask_before(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_READY);
	assert_true(disk_table_exists(&f->dir, &f->file));
}

static void its_cpu_time_is_limited(void **state)
{
	struct fixture *f = *state;
	struct rlimit limit = {0};

	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, 0),
			 TABLE_PENDING);
	assert_int_equal(prlimit(f->builder.pid, RLIMIT_CPU, NULL, &limit), 0);
	assert_int_equal(limit.rlim_max, TABLE_BUILDER_CPU_S);
}

static void who_hurries_still_yields_to_others(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, 0),
			 TABLE_PENDING);
	table_builder_hurry(&f->builder, true);
	assert_int_equal(sched_getscheduler(f->builder.pid), SCHED_OTHER);
	assert_true(getpriority(PRIO_PROCESS, (id_t)f->builder.pid) >= 10);
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_READY);
}

/* An agent has other children, which have budgets of their own. */
static void its_cpu_time_is_that_of_builders_alone(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();

	if (pid == 0) {
		while (clock() < CLOCKS_PER_SEC / 20)
			continue;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(f->builder.cpu_ns, 0);
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_READY);
	assert_true(f->builder.cpu_ns > 0);
}

static void what_cannot_be_built_is_left_to_the_caller(void **state)
{
	struct fixture *f = *state;
	struct module gone = {.kind = MODULE_FILE, .path = "/nowhere"};
	struct module self = {.kind = MODULE_ANONYMOUS, .path = ""};

	assert_int_equal(table_builder_look(&f->builder, &gone, 1, &f->search, 0), TABLE_READY);
	assert_int_equal(table_builder_look(&f->builder, &self, 2, &f->search, 0), TABLE_READY);
	f->search.tables = NULL;
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, 0),
			 TABLE_READY);
	assert_int_equal(f->builder.pid, 0);
}

/* In place of one that works on a module: it never ends by itself. */
static pid_t start_idle_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void a_file_that_killed_its_process_is_not_tried_again(void **state)
{
	struct fixture *f = *state;

	f->builder.pid = start_idle_process();
	f->builder.module = 3;
	assert_int_equal(kill(f->builder.pid, SIGKILL), 0);
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_FAILED);
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, UINT64_MAX),
			 TABLE_FAILED);
	assert_int_equal(f->builder.pid, 0);
	assert_false(disk_table_exists(&f->dir, &f->file));
	assert_int_equal(table_builder_look(&f->builder, &f->module, 4, &f->search, UINT64_MAX),
			 TABLE_READY);
}

static void who_waits_does_so_until_the_deadline(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start_idle_process();

	f->builder.pid = pid;
	f->builder.module = 3;
	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search,
					    clock_monotonic_ns() + NS_PER_MS),
			 TABLE_PENDING);
	assert_int_equal(f->builder.pid, pid);
}

static void its_process_ends_with_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(table_builder_look(&f->builder, &f->module, 3, &f->search, 0),
			 TABLE_PENDING);
	table_builder_fini(&f->builder);
	assert_int_equal(f->builder.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_is_ready_when_the_table_is_there),
		TEST(who_waits_need_not_ask_before),
		TEST(its_cpu_time_is_limited),
		TEST(who_hurries_still_yields_to_others),
		TEST(its_cpu_time_is_that_of_builders_alone),
		TEST(what_cannot_be_built_is_left_to_the_caller),
		TEST(a_file_that_killed_its_process_is_not_tried_again),
		TEST(who_waits_does_so_until_the_deadline),
		TEST(its_process_ends_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
