/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_SERVICE_NAMES_H
#define WICK_SERVER_FILES_SERVICE_NAMES_H

/*
 * service_names: how files are called as services: the last part of the path without ".wick"; as
 * many parts as it takes where several files have the same.
 */

#include <stddef.h>

struct error;

/*
 * The caller frees the names and their array. -EINVAL if a file occurs twice.
 */
int service_names_new(const char *const *paths, size_t count, char ***ret, struct error *err);

#endif
