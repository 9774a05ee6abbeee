/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/missing_preload.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/session.h"

static int set_up(void **state)
{
	char *folder = strdup("/tmp/test-absence-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	int r = rmdir(*state);

	free(*state);
	return r;
}

static void assert_marked(const char *folder, const char *mark, const char *words)
{
	struct missing_preload absence = {.joined = 2};
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, mark);
	(void)close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_non_null(strstr(missing_preload_tell(&absence, folder, false), words));
	assert_int_equal(unlink(path), 0);
}

static void programs_without_room_are_told_with_the_limit(void **state)
{
	assert_marked(*state, SESSION_LIMITED, "ulimit -f");
	assert_marked(*state, SESSION_NO_ROOM, "TMPDIR");
}

static void what_became_another_program_is_told(void **state)
{
	struct missing_preload absence = {.pid = getpid()};

	missing_preload_join(&absence, getpid());
	missing_preload_look(&absence);
	assert_null(missing_preload_tell(&absence, *state, true));
	absence.inode++;
	missing_preload_look(&absence);
	assert_non_null(strstr(missing_preload_tell(&absence, *state, false), "env -i"));
	missing_preload_join(&absence, getpid()); /* as what it became */
	missing_preload_look(&absence);
	assert_null(missing_preload_tell(&absence, *state, false));
}

static void without_samples_the_likely_reason_is_told(void **state)
{
	struct missing_preload absence = {.joined = 0};

	assert_null(missing_preload_tell(&absence, *state, false));
	assert_non_null(
		strstr(missing_preload_tell(&absence, *state, true), "did not load the library"));
	absence.joined = 1;
	assert_null(missing_preload_tell(&absence, *state, true));
	absence.silent_ends = 1;
	assert_non_null(strstr(missing_preload_tell(&absence, *state, true), "--engine ptrace"));
	absence.heap = true;
	assert_non_null(
		strstr(missing_preload_tell(&absence, *state, true), "no call of malloc()"));
	absence.sampled = true;
	assert_non_null(strstr(missing_preload_tell(&absence, *state, true), "a smaller --sample"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(programs_without_room_are_told_with_the_limit,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_became_another_program_is_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_samples_the_likely_reason_is_told, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
