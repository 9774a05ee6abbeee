/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sandbox: a program that sandboxes itself. After a seccomp filter our own system calls could kill
 * it, so sampling ends before. After chroot, programs that it starts would not find the library,
 * and the loader would print errors.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"
#include "preload/session_file.h"
#include "preload/thread.h"

static void leave(void)
{
	if (!preload_active())
		return;
	preload_give_up(SESSION_PROCESS_SEALED);
	thread_stop_all();
}

REAL_DEFINE(prctl);
PRELOAD_EXPORT int prctl(int option, ...)
{
	unsigned long values[4];
	va_list arguments;

	va_start(arguments, option);
	for (int i = 0; i < 4; i++)
		values[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (option == PR_SET_SECCOMP)
		leave();
	return REAL(prctl)(option, values[0], values[1], values[2], values[3]);
}

REAL_DEFINE(syscall);
PRELOAD_EXPORT long syscall(long number, ...)
{
	long values[6];
	va_list arguments;
	bool rested;
	long r;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(arguments, long);
	va_end(arguments);
	/* Without a filter it only queries the kernel. */
	if (number == SYS_seccomp && (values[0] == SECCOMP_SET_MODE_STRICT ||
				      (values[0] == SECCOMP_SET_MODE_FILTER && values[2])))
		leave();
	rested = (number == SYS_execve || number == SYS_execveat) && process_timer_rest();
	r = REAL(syscall)(number, values[0], values[1], values[2], values[3], values[4], values[5]);
	process_timer_wake(rested);
	return r;
}

/* Removes our library from LD_PRELOAD, in place. */
static void forget_library(void)
{
	static const char name[] = "LD_PRELOAD=";
	size_t folder = strlen(preload.folder);

	for (char **at = environ; at && *at; at++) {
		char *list = *at + sizeof(name) - 1;
		char *end = list + folder + sizeof(SESSION_LIBRARY);

		if (strncmp(*at, name, sizeof(name) - 1) != 0 ||
		    strncmp(list, preload.folder, folder) != 0 ||
		    strncmp(list + folder, "/" SESSION_LIBRARY, sizeof(SESSION_LIBRARY)) != 0)
			continue;
		end += *end == ':';
		memmove(list, end, strlen(end) + 1);
	}
}

REAL_DEFINE(chroot);
PRELOAD_EXPORT int chroot(const char *path)
{
	int r = REAL(chroot)(path);

	if (r == 0 && preload.control && !session_file_has_library())
		forget_library();
	return r;
}
