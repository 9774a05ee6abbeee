/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/limit_remedy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_remedy_is_above_the_limit_and_within_the_rights_of_the_caller(void **state)
{
	static const struct {
		int resource;
		struct rlimit limit;
		bool is_root;
		rlim_t wanted;
		const char *remedy;
	} cases[] = {
		{RLIMIT_NOFILE, {1024, RLIM_INFINITY}, false, 65536, "ulimit -n 65536"},
		{RLIMIT_NOFILE, {1024, 4096}, false, 65536, "ulimit -n 4096"},
		{RLIMIT_NOFILE, {1024, 4096}, true, 65536, "ulimit -n 65536"},
		{RLIMIT_NOFILE, {100000, RLIM_INFINITY}, false, 65536, "ulimit -n 131072"},
		{RLIMIT_NOFILE,
		 {20000, 20000},
		 true,
		 65536,
		 "ulimit -n 65536; in a container: --ulimit nofile=65536"},
		{RLIMIT_NOFILE,
		 {20000, 20000},
		 false,
		 65536,
		 "sudo prlimit --pid $$ --nofile=65536; for good: \"* hard nofile 65536\" in "
		 "/etc/security/limits.conf; in a systemd unit: LimitNOFILE=65536"},
		{RLIMIT_NPROC,
		 {100, 100},
		 false,
		 RLIM_INFINITY,
		 "sudo prlimit --pid $$ --nproc=unlimited; for good: \"* hard nproc unlimited\" in "
		 "/etc/security/limits.conf; in a systemd unit: LimitNPROC=infinity"},
		{RLIMIT_NPROC,
		 {100, 100},
		 true,
		 RLIM_INFINITY,
		 "ulimit -u unlimited; in a container: --ulimit nproc=-1"},
		{RLIMIT_AS, {1 << 20, 1 << 22}, false, RLIM_INFINITY, "ulimit -v 4096"},
	};
	char text[400];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(limit_remedy_for(cases[i].resource, &cases[i].limit, cases[i].is_root,
					     cases[i].wanted, text, sizeof(text)));
		assert_string_equal(text, cases[i].remedy);
	}
}

static void where_there_is_no_limit_nothing_is_said(void **state)
{
	struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	char text[100] = "x";

	assert_false(limit_remedy_for(RLIMIT_NOFILE, &none, true, 1, text, sizeof(text)));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_remedy_is_above_the_limit_and_within_the_rights_of_the_caller),
		cmocka_unit_test(where_there_is_no_limit_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
