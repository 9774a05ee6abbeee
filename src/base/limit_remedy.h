/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LIMIT_REMEDY_H
#define WICK_BASE_LIMIT_REMEDY_H

/*
 * limit_remedy: how to raise a resource limit of this process. Up to the hard limit anybody can do
 * that in a shell; above it only root can.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/* Suggested when it is not known how many files are needed. */
#define LIMIT_MANY_FILES 65536u

/*
 * Writes the commands and settings that raise the limit (RLIMIT_NOFILE …) to wanted, or higher if
 * it is that high already. Returns false, and "", when there is no limit.
 */
bool limit_remedy(int resource, rlim_t wanted, char *ret, size_t size);

/* The same for a given limit instead of the current one. */
bool limit_remedy_for(int resource, const struct rlimit *limit, bool is_root, rlim_t wanted,
		      char *ret, size_t size);

#endif
