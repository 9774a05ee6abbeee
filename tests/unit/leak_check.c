// SPDX-License-Identifier: BSD-2-Clause
/*
 * leak_check: the leak check of programs built with the address sanitizer, made
 * cheap. The sanitizer's own walks its table of all possible regions, seconds of
 * CPU on aarch64, to find out that nothing is left. A program that has freed all
 * it allocated has no leaks: only one that holds something is looked at.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static size_t bytes_at_start;

/* The sanitizer's; not every compiler brings the headers. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
size_t __sanitizer_get_current_allocated_bytes(void);
void __lsan_do_leak_check(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=1:leak_check_at_exit=0";
}

/* Registered before main, so it runs after what the program itself registers. */
static void check_at_exit(void)
{
	if (__sanitizer_get_current_allocated_bytes() > bytes_at_start)
		__lsan_do_leak_check();
}

__attribute__((constructor)) static void begin(void)
{
	static char output[BUFSIZ]; /* else stdio allocates it, and it would stay */

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	atexit(check_at_exit);
	bytes_at_start = __sanitizer_get_current_allocated_bytes();
}
