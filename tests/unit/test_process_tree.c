/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_tree.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "proc/process_info.h"

#define NAME "wick-tree-test"

static bool contains(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/* A child of that name with a child of its own, both asleep. Returns them once they are. */
static void start_family(pid_t *ret_child, pid_t *ret_grandchild)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*ret_child = fork();
	assert_true(*ret_child >= 0);
	if (*ret_child == 0) {
		pid_t own = fork();

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, NAME);
		if (own > 0 && write(ends[1], &own, sizeof(own)) != sizeof(own))
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ends[0], ret_grandchild, sizeof(*ret_grandchild)),
			 sizeof(*ret_grandchild));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void end_family(pid_t child, pid_t grandchild)
{
	(void)kill(grandchild, SIGKILL);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void children_and_their_children_are_found_once(void **state)
{
	struct pid_list roots = {0};
	struct pid_list below = {0};
	struct error err = {0};
	pid_t child, grandchild;

	(void)state;
	start_family(&child, &grandchild);
	assert_int_equal(vec_push(&roots, child), 0);
	assert_int_equal(process_tree_below(&roots, &below, &err), 0);
	assert_int_equal(below.count, 1);
	assert_int_equal(below.items[0], grandchild);
	below.count = 0;
	assert_int_equal(vec_push(&roots, getpid()), 0);
	assert_int_equal(process_tree_below(&roots, &below, &err), 0);
	assert_int_equal(below.count, 1); /* the child is a root itself */
	below.count = 0;
	roots.items[0] = grandchild;
	assert_int_equal(process_tree_below(&roots, &below, &err), 0);
	assert_true(contains(&below, child));
	assert_false(contains(&below, grandchild));
	end_family(child, grandchild);
	vec_fini(&roots);
	vec_fini(&below);
}

static void a_name_is_that_of_a_process_or_of_its_file(void **state)
{
	struct process_info own;
	struct pid_list found = {0};
	struct error err = {0};
	pid_t child, grandchild;

	(void)state;
	start_family(&child, &grandchild);
	assert_int_equal(process_tree_named(NAME, &found, &err), 0);
	assert_true(contains(&found, child));
	found.count = 0;
	assert_int_equal(process_info_read(0, &own, &err), 0);
	assert_int_equal(process_tree_named("test_process_tree", &found, &err), 0);
	assert_true(contains(&found, child));     /* by its file: it has another name */
	assert_false(contains(&found, getpid())); /* never this one */
	found.count = 0;
	assert_int_equal(process_tree_named("wick-tree-tes", &found, &err), 0);
	assert_int_equal(found.count, 0); /* a part of a name is none */
	end_family(child, grandchild);
	vec_fini(&found);
}

static void who_has_run_says_so_and_who_is_gone_has_not(void **state)
{
	(void)state;
	assert_true(process_tree_run_ns(getpid()) > 0);
	assert_int_equal(process_tree_run_ns(INT32_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_and_their_children_are_found_once),
		cmocka_unit_test(a_name_is_that_of_a_process_or_of_its_file),
		cmocka_unit_test(who_has_run_says_so_and_who_is_gone_has_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
