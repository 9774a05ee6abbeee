/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec: the program executes another one. The process timer would keep ticking there and kill it
 * unless our library handles the signal in time, so it is suspended. Signals that the program has
 * blocked are really blocked for the new program.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "preload/interpose/signals.h"
#include "preload/interpose/without_ticks.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"

/* Whether the new environment lacks our variables, as with env -i. */
static bool is_left(char *const *variables)
{
	static const char name[] = SESSION_VARIABLE "=";

	if (!preload.process)
		return false;
	for (; variables && *variables; variables++) {
		size_t i = 0;

		while (i < sizeof(name) - 1 && (*variables)[i] == name[i])
			i++;
		if (i == sizeof(name) - 1)
			return false;
	}
	return true;
}

/* If it returns, it has failed. */
#define RESTING(variables, call)                                                                   \
	({                                                                                         \
		bool rested = process_timer_rest();                                                \
		uint64_t held = signals_block_believed();                                          \
		uint64_t left = is_left(variables);                                                \
		int result;                                                                        \
                                                                                                   \
		preload_count(SESSION_LEFT, left);                                                 \
		result = (call);                                                                   \
		preload_count(SESSION_LEFT, -left);                                                \
		without_ticks_end(held);                                                           \
		process_timer_wake(rested);                                                        \
		result;                                                                            \
	})

REAL_DEFINE(execve);
PRELOAD_EXPORT int execve(const char *path, char *const arguments[], char *const variables[])
{
	return RESTING(variables, REAL(execve)(path, arguments, variables));
}

REAL_DEFINE(execv);
PRELOAD_EXPORT int execv(const char *path, char *const arguments[])
{
	return RESTING(environ, REAL(execv)(path, arguments));
}

REAL_DEFINE(execvp);
PRELOAD_EXPORT int execvp(const char *file, char *const arguments[])
{
	return RESTING(environ, REAL(execvp)(file, arguments));
}

REAL_DEFINE(execvpe);
PRELOAD_EXPORT int execvpe(const char *file, char *const arguments[], char *const variables[])
{
	return RESTING(variables, REAL(execvpe)(file, arguments, variables));
}

REAL_DEFINE(fexecve);
PRELOAD_EXPORT int fexecve(int fd, char *const arguments[], char *const variables[])
{
	return RESTING(variables, REAL(fexecve)(fd, arguments, variables));
}

/* The number of arguments, including the final NULL. */
static size_t count_arguments(const char *first, va_list list)
{
	size_t count = 1;

	for (; first; first = va_arg(list, char *))
		count++;
	return count;
}

/* Copies them into `to`, which has enough space. */
static void copy_arguments(char **to, const char *first, va_list list)
{
	/* execv() takes non-const strings, but does not change them. */
	*to = (char *)(uintptr_t)first;
	while (*to)
		*++to = va_arg(list, char *);
}

/* On the stack: a child of vfork could not free other memory. */
#define ARGUMENTS_OF(to, first)                                                                    \
	do {                                                                                       \
		va_list given;                                                                     \
		va_start(given, first);                                                            \
		(to) = __builtin_alloca(count_arguments(first, given) * sizeof(char *));           \
		va_end(given);                                                                     \
		va_start(given, first);                                                            \
		copy_arguments(to, first, given);                                                  \
		va_end(given);                                                                     \
	} while (0)

PRELOAD_EXPORT int execl(const char *path, const char *first, ...)
{
	char **arguments;

	ARGUMENTS_OF(arguments, first);
	return execv(path, arguments);
}

PRELOAD_EXPORT int execlp(const char *file, const char *first, ...)
{
	char **arguments;

	ARGUMENTS_OF(arguments, first);
	return execvp(file, arguments);
}

PRELOAD_EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *variables;
	char **arguments;
	va_list list;

	ARGUMENTS_OF(arguments, first);
	va_start(list, first);
	for (char **at = arguments; *at; at++)
		(void)va_arg(list, char *); /* up to the NULL; the variables follow it */
	variables = va_arg(list, char *const *);
	va_end(list);
	return execve(path, arguments, variables);
}
