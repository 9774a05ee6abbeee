/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_THREADS_H
#define WICK_LANGUAGE_PYTHON_THREADS_H

/*
 * threads: the names that a Python program gave its threads. They are attributes of the objects in
 * threading._active.
 *
 * The program runs meanwhile: all walks are bounded, and what does not look like the expected
 * object is left out.
 */

#include <stdint.h>

#include "language/language.h"

struct python_reader;
struct python_structs;

/* What was found before, so that a program's list of modules is searched once. Zeroed first. */
struct python_thread_list {
	uint64_t modules; /* the dictionary of modules */
	uint64_t active;  /* threading._active, which is never replaced */
};

/*
 * Calls name() for each thread of the main interpreter that has a name of its own, not one that
 * Python made up for the main thread or for threads that C code started. Does nothing with versions
 * whose objects are not known.
 */
void python_threads_names(const struct python_structs *structs, const struct python_reader *reader,
			  struct python_thread_list *list, language_thread_fn *name, void *self);

#endif
