/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/own_program.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/text.h"

/* A file with capabilities that anybody may run would open root's processes to everybody. */
#define COMMANDS                                                                                   \
	"sudo groupadd -f wick && sudo chgrp wick \"$f\" && sudo chmod 0750 \"$f\" && "            \
	"sudo setcap cap_bpf=ep \"$f\""

static void rights_are_granted_to_a_group_for_the_file_that_runs(void **state)
{
	char command[PATH_MAX + 100];
	char path[PATH_MAX];
	struct bytes expected = {0};

	assert_true(own_program_path(path, sizeof(path)));
	assert_int_equal(access(path, X_OK), 0);
	bytes_printf(&expected, "f=");
	text_put_shell(&expected, path); /* the folder may have spaces */
	bytes_printf(&expected, "; " COMMANDS);
	bytes_put_u8(&expected, 0);
	assert_string_equal(own_program_grant("cap_bpf", command, sizeof(command)),
			    (const char *)expected.data);
	bytes_fini(&expected);
}

static void a_path_without_room_is_never_cut(void **state)
{
	char command[sizeof(COMMANDS) + 24];
	char path[4];

	assert_false(own_program_path(path, sizeof(path)));
	assert_string_equal(path, "");
	assert_string_equal(own_program_grant("cap_bpf", command, sizeof(command)),
			    "f=$(command -v wick); " COMMANDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_granted_to_a_group_for_the_file_that_runs),
		cmocka_unit_test(a_path_without_room_is_never_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
