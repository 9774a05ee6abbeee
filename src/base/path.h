/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_PATH_H
#define WICK_BASE_PATH_H

/* path: the parts of a path. */

#include <string.h>

/* What follows the last slash. A path that ends with a slash is returned whole. */
static inline const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
