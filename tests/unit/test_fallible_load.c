/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "preload/fallible_load.h"

static volatile int resumed;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (!fallible_resume(context))
		_exit(3); /* a fault of another instruction */
	resumed++;
}

static void a_load_from_nowhere_goes_on(void **state)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	uint64_t there = 77;
	volatile uint64_t any;

	(void)state;
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	for (uint64_t i = 1; i <= 3; i++)
		any = fallible_load((const uint64_t *)(i * 8));
	assert_int_equal(fallible_load(&there), 77);
	(void)any;
	assert_int_equal(resumed, 3);
	assert_int_not_equal(signal(SIGSEGV, SIG_DFL), SIG_ERR);
}

static void other_instructions_are_none_of_these(void **state)
{
	ucontext_t context = {0};

	(void)state;
	assert_false(fallible_resume(&context));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_from_nowhere_goes_on),
		cmocka_unit_test(other_instructions_are_none_of_these),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
