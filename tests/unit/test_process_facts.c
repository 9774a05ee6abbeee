/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/process_facts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void control_groups_name_units_and_containers(void **state)
{
	static const struct {
		const char *text;
		const char *cgroup;
		const char *unit;
		const char *container;
	} cases[] = {
		{"0::/system.slice/nginx.service\n", "/system.slice/nginx.service", "nginx.service",
		 ""},
		{"0::/system.slice/docker-" ID ".scope\n", "/system.slice/docker-" ID ".scope", "",
		 "0123456789ab"},
		{"0::/kubepods.slice/pod7.slice/cri-containerd-" ID ".scope\n",
		 "/kubepods.slice/pod7.slice/cri-containerd-" ID ".scope", "", "0123456789ab"},
		/* The first version: the group of a controller says more than the empty unified
		   one. */
		{"4:memory:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/\n", "/docker/" ID,
		 "", "0123456789ab"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service\n",
		 "/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service",
		 "editor.service", ""},
		{"0::/user.slice/user-1000.slice/user@1000.service/init.scope\n",
		 "/user.slice/user-1000.slice/user@1000.service/init.scope", "", ""},
		{"0::/user.slice/user-1000.slice/session-2.scope",
		 "/user.slice/user-1000.slice/session-2.scope", "", ""},
		{"0::/\n", "/", "", ""},
		{"", "", "", ""},
		{"nonsense\n:::\n\n:", "", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_facts facts = {0};

		process_facts_parse_cgroup(cases[i].text, &facts);
		assert_string_equal(facts.cgroup, cases[i].cgroup);
		assert_string_equal(facts.unit, cases[i].unit);
		assert_string_equal(facts.container, cases[i].container);
	}
}

static void only_three_variables_are_kept(void **state)
{
	struct process_facts facts = {0};
	struct process_facts before;

	(void)state;
	process_facts_parse_variable("PASSWORD=secret", &facts);
	before = (struct process_facts){0};
	assert_memory_equal(&facts, &before, sizeof(facts));
	process_facts_parse_variable("OTEL_SERVICE_NAME=shop", &facts);
	assert_string_equal(facts.service, "shop");
	process_facts_parse_variable("WICK_SERVICE=checkout", &facts);
	process_facts_parse_variable("OTEL_SERVICE_NAME=shop", &facts);
	process_facts_parse_variable("WICK_RELEASE=v7", &facts);
	assert_string_equal(facts.service, "checkout");
	assert_string_equal(facts.release, "v7");
}

static void only_complete_variables_are_read(void **state)
{
	static const char text[] = "HOME=/root\0WICK_SERVICE=shop\0WICK_RELEASE=v";
	struct process_facts facts = {0};

	(void)state;
	assert_int_equal(process_facts_parse_environment(text, sizeof(text) - 1, &facts), 29);
	assert_string_equal(facts.service, "shop");
	assert_string_equal(facts.release, "");
	assert_int_equal(process_facts_parse_environment(text, 5, &facts), 0);
}

/* The environment is read in pieces: a variable that begins in one and ends in the next is whole.
 */
static void a_large_environment_is_read_whole(void **state)
{
	const size_t paddings[] = {8100, 8170, 8185, 16350, 20000};

	(void)state;
	for (size_t i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++) {
		struct process_facts facts = {0};
		char *padding = malloc(paddings[i] + 1);
		char service[] = "WICK_SERVICE=shop";
		char release[] = "WICK_RELEASE=v7";
		char *variables[] = {padding, service, release, NULL};
		int ready[2];
		int held[2];
		char byte;
		pid_t pid;

		assert_non_null(padding);
		memset(padding, 'x', paddings[i]);
		padding[paddings[i]] = '\0';
		assert_int_equal(pipe(ready), 0);
		assert_int_equal(pipe(held), 0);
		pid = fork();
		if (pid == 0) {
			(void)dup2(ready[1], STDOUT_FILENO);
			(void)dup2(held[0], STDIN_FILENO); /* it waits until it is killed */
			(void)execle("/bin/sh", "sh", "-c", "echo; read x", (char *)NULL,
				     variables);
			_exit(1);
		}
		assert_int_equal(read(ready[0], &byte, 1), 1); /* it runs */
		assert_int_equal(process_facts_read(pid, &facts), 0);
		assert_string_equal(facts.service, "shop");
		assert_string_equal(facts.release, "v7");
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		for (int end = 0; end < 2; end++) {
			(void)close(ready[end]);
			(void)close(held[end]);
		}
		free(padding);
	}
}

static void texts_of_others_are_made_harmless(void **state)
{
	char text[8];

	(void)state;
	process_fact_copy(text, sizeof(text), "a\033[31mb\n", 7);
	assert_string_equal(text, "a_[31mb");
	/* Cut before a character that does not fit, not inside it. */
	process_fact_copy(text, sizeof(text), "abcdef\xc3\xa9", 8);
	assert_string_equal(text, "abcdef");
}

static void own_facts_can_be_read(void **state)
{
	struct process_facts facts;

	(void)state;
	assert_int_equal(process_facts_read(getpid(), &facts), 0);
	assert_int_equal(facts.cgroup[0], '/');
}

static void a_process_that_is_gone_is_reported(void **state)
{
	struct process_facts facts;

	(void)state;
	assert_int_equal(process_facts_read(INT32_MAX, &facts), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_groups_name_units_and_containers),
		cmocka_unit_test(only_three_variables_are_kept),
		cmocka_unit_test(only_complete_variables_are_read),
		cmocka_unit_test(a_large_environment_is_read_whole),
		cmocka_unit_test(texts_of_others_are_made_harmless),
		cmocka_unit_test(own_facts_can_be_read),
		cmocka_unit_test(a_process_that_is_gone_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
