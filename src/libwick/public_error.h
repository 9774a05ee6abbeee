/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_PUBLIC_ERROR_H
#define WICK_LIBWICK_PUBLIC_ERROR_H

/* public_error: converts our errors to those of the public library. */

#include <wick/error.h>

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* Fills *to, which may be NULL. Returns the code. */
static inline int public_error(const struct error *from, struct wick_error *to)
{
	if (to) {
		to->code = from->code;
		(void)snprintf(to->text, sizeof(to->text), "%s", from->text);
		(void)snprintf(to->remedy, sizeof(to->remedy), "%s", from->remedy);
	}
	return from->code;
}

/* Checks a required argument. Returns 0, or -EINVAL if it is NULL. */
static inline int need(const void *given, const char *name, struct error *err)
{
	if (given)
		return 0;
	return error_advise(err, error_set(err, -EINVAL, "%s is NULL", name),
			    "pass a valid pointer: the header says which arguments may be NULL");
}

/* Sets the error for an invalid process id. Returns the code. */
static inline int refuse_pid(pid_t pid, struct error *err)
{
	return error_advise(err, error_set(err, -EINVAL, "%d is not a process id", (int)pid),
			    "use the PID of a running process, as shown by ps");
}

#endif
