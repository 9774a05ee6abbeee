/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/preload_path.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/error.h"
#include "elf/elf.h"

static void a_loader_that_runs_a_program_takes_the_library_too(void **state)
{
	char loader[PATH_MAX];
	struct elf_file *elf = NULL;

	assert_int_equal(elf_open("/proc/self/exe", &elf, NULL), 0);
	preload_interpreter(elf, loader, sizeof(loader));
	elf_close(elf);
	if (loader[0] == '\0')
		skip(); /* these tests were linked statically */
	assert_int_equal(preload_check("/proc/self/exe", NULL), 0);
	assert_int_equal(preload_check(loader, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loader_that_runs_a_program_takes_the_library_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
