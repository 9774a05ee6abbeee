/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LIMIT_REMEDY_H
#define WICK_BASE_LIMIT_REMEDY_H

/*
 * limit_remedy: how a limit that this process was given is raised. Up to the hard limit anybody
 * can do that in a shell; above it root alone can.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/* Asked for when nobody knows how many files are needed. */
#define LIMIT_MANY_FILES 65536u

/*
 * Writes the commands and settings that raise the limit (RLIMIT_NOFILE …) to what is wanted, or
 * above what it is where that is more already. False, and "", when there is no limit.
 */
bool limit_remedy(int resource, rlim_t wanted, char *ret, size_t size);

/* The same for a limit that is told instead of read. */
bool limit_remedy_for(int resource, const struct rlimit *limit, bool is_root, rlim_t wanted,
		      char *ret, size_t size);

#endif
