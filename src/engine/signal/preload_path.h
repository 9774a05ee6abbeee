/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PRELOAD_PATH_H
#define WICK_ENGINE_SIGNAL_PRELOAD_PATH_H

/* preload_path: where the library is that runs inside programs, and which take it. */

#include <stddef.h>

struct error;

/* Beside this program, where the build puts it, or where it was installed. */
int preload_path(char *ret, size_t size, struct error *err);

/*
 * Whether the loader will put the library into a program, as it would be found on
 * PATH. Programs that are linked statically, run with raised rights or by another C
 * library refuse it: -EOPNOTSUPP, and which engine to use. Scripts and what cannot be
 * looked at pass: 0.
 */
int preload_check(const char *program, struct error *err);

#endif
