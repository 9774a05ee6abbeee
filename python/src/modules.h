/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_MODULES_H
#define WICK_PYTHON_MODULES_H

/*
 * modules: which file each return address of a stack belongs to. It is looked up when a stack is
 * new, so that it is still known after the module is unloaded. Frames of an unloaded module end,
 * because another module may be loaded at the same address.
 *
 * Threads: any; call with no table locked.
 */

#include "tracer.h"

/*
 * Looks up the modules of a table's new stacks. Call with the GIL held for the first table. Returns
 * whether modules were loaded or unloaded since the last call.
 */
bool modules_name_stacks(enum tracer_table_id table);

/*
 * Returns the location of a return address as a new reference to (path, address in the file). The
 * path is None if it is not known.
 */
PyObject *modules_place(enum tracer_table_id table, uint32_t frame);

/* Called by the fork handlers. */
void modules_lock(void);
void modules_unlock(void);

#endif
