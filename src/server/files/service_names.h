/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_SERVICE_NAMES_H
#define WICK_SERVER_FILES_SERVICE_NAMES_H

/*
 * service_names: the names that files have as services: the last part of the path, without ".wick";
 * if several files share it, as many parts as it takes to tell them apart.
 */

#include <stddef.h>

struct error;

/*
 * The caller frees the names and their array. -EINVAL if a file occurs twice.
 */
int service_names_new(const char *const *paths, size_t count, char ***ret, struct error *err);

#endif
