/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_MODULES_H
#define WICK_PYTHON_MODULES_H

/*
 * modules: which file the return addresses of stacks belong to. It is noted when a stack is new, so
 * that an address keeps its meaning after its module was unloaded. Stacks with addresses of a
 * module that is gone are retired: another one may be loaded at its place.
 *
 * Threads: any; no table is locked when these are called.
 */

#include "tracer.h"

/*
 * Notes the modules of a table's new stacks. For the first table with the GIL. Returns whether
 * modules were loaded or unloaded since the last call.
 */
bool modules_name_stacks(enum tracer_table_id table);

/*
 * Where an address of a stack is: (path, address as in the file). `word` is the number of the word
 * in its table. Returns a new reference; the path is None where it is not known.
 */
PyObject *modules_place(enum tracer_table_id table, uint32_t word);

/* In use before and after a fork. */
void modules_lock(void);
void modules_unlock(void);

#endif
