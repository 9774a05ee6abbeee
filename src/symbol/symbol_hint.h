/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_HINT_H
#define WICK_SYMBOL_SYMBOL_HINT_H

/*
 * symbol_hint: how to get the missing symbols of modules: the debug file that is needed, and the
 * package that probably has it.
 *
 * The package of a file is read from dpkg's file lists.
 */

#include <stdbool.h>
#include <stddef.h>

struct bytes;

struct symbol_want {
	const char *module;   /* path, "[kernel]", … */
	const char *build_id; /* in hex, "" for none */
	bool is_lost;         /* the file is gone, or another is in its place */
	char package[128];    /* the module's package, "" when unknown: symbol_hint_packages() */
};

/* Finds the packages of all modules at once. Finds none on a machine without dpkg. */
void symbol_hint_packages(struct symbol_want *wants, size_t count);

/* Appends what to do, or nothing if nothing would help. */
void symbol_hint_put(struct bytes *out, const struct symbol_want *want);

#endif
