/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_RUNTIME_H
#define WICK_LANGUAGE_PYTHON_RUNTIME_H

/*
 * runtime: finds the CPython interpreter of a process, in its executable or in a libpython,
 * stripped or not. What is found out about a file is kept for the next process.
 */

#include <stddef.h>
#include <sys/types.h>

#include "language/python/layout.h"
#include "language/python/loop_code.h"

struct error;
struct maps;
struct python_files;

struct python_runtime {
	struct python_structs structs;
	struct language_range loops[LOOP_RANGES]; /* addresses in the process */
	size_t loop_count;
};

struct python_files *python_files_new(void); /* NULL if out of memory */
void python_files_free(struct python_files *files);

/*
 * Returns 0 or a negative errno: -ENOENT if the process has none, -ENOTSUP if it cannot be read
 * (err says why).
 */
int python_runtime_find(struct python_files *files, pid_t pid, const struct maps *maps,
			struct python_runtime *ret, struct error *err);

#endif
