/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_RUNTIME_H
#define WICK_LANGUAGE_PYTHON_RUNTIME_H

/*
 * runtime: finds the CPython interpreter of a process, in its executable or in a libpython,
 * stripped or not.
 */

#include <stddef.h>
#include <sys/types.h>

#include "language/loop_code.h"
#include "language/python/layout.h"

struct error;
struct maps;
struct runtime_files;
struct runtime_kind;

struct python_runtime {
	struct python_structs structs;
	struct language_range loops[LOOP_RANGES]; /* addresses in the process */
	size_t loop_count;
};

extern const struct runtime_kind python_runtime_kind;

/*
 * files are of python_runtime_kind. Returns 0 or a negative errno: -ENOENT if the process has none,
 * -ENOTSUP if it cannot be read (err says why).
 */
int python_runtime_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
			struct python_runtime *ret, struct error *err);

#endif
