// SPDX-License-Identifier: BSD-2-Clause
/*
 * leak_check: the leak check of programs built with the address sanitizer, made
 * cheap. The sanitizer's own walks its table of all possible regions, seconds of
 * CPU on aarch64, to find out that nothing is left. A program that has freed all
 * it allocated has no leaks: only one that holds something is looked at, after the C
 * library has let go of what it keeps for itself (the environment, loaded libraries).
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t bytes_at_start;
/* What is left of that when the C library has let go of its own. */
static size_t bytes_without_libc;

/* The sanitizer's; not every compiler brings the headers. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
size_t __sanitizer_get_current_allocated_bytes(void);
void __lsan_do_leak_check(void);
void __libc_freeres(void); /* the C library's, for programs that look for leaks */

const char *__asan_default_options(void)
{
	return "detect_leaks=1:leak_check_at_exit=0";
}

/* It keeps the fonts that it has found, for cairo's next picture. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

/* Registered before main, so it runs after what the program itself registers. */
static void check_at_exit(void)
{
	if (__sanitizer_get_current_allocated_bytes() <= bytes_at_start)
		return;
	__libc_freeres();
	if (__sanitizer_get_current_allocated_bytes() > bytes_without_libc)
		__lsan_do_leak_check();
}

/* A child tries it out: the C library can only be told once, at the end. */
static size_t try_without_libc(void)
{
	size_t *bytes = mmap(NULL, sizeof(*bytes), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t found;
	pid_t pid;

	if (bytes == MAP_FAILED)
		return 0;
	pid = fork();
	if (pid == 0) {
		__libc_freeres();
		*bytes = __sanitizer_get_current_allocated_bytes();
		_exit(0);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0); /* without an answer everything is looked at */
	found = *bytes;
	(void)munmap(bytes, sizeof(*bytes));
	return found;
}

__attribute__((constructor)) static void begin(void)
{
	static char output[BUFSIZ]; /* else stdio allocates it, and it would stay */

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	atexit(check_at_exit);
	bytes_at_start = __sanitizer_get_current_allocated_bytes();
	bytes_without_libc = try_without_libc();
}
