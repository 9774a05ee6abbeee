/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_HINT_H
#define WICK_SYMBOL_SYMBOL_HINT_H

/*
 * symbol_hint: what would bring the missing symbols of modules: the debug file that is
 * looked for, and the package that is likely to hold it.
 *
 * Which package a file is from is read from dpkg's lists of files.
 */

#include <stdbool.h>
#include <stddef.h>

struct bytes;

struct symbol_want {
	const char *module;   /* path, "[kernel]", … */
	const char *build_id; /* in hex, "" for none */
	bool is_lost;         /* the file is gone, or another is in its place */
	char package[128];    /* that the module is from, "" when unknown: symbol_hint_packages() */
};

/* Finds the packages of all modules at once. A machine without dpkg has none. */
void symbol_hint_packages(struct symbol_want *wants, size_t count);

/* Appends what to do, nothing when nothing would help. */
void symbol_hint_put(struct bytes *out, const struct symbol_want *want);

#endif
