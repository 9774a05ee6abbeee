/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_GOT_H
#define WICK_PYTHON_GOT_H

/*
 * got: makes the modules of the process call us in place of malloc() and the like, by the tables of
 * addresses through which they call functions of other modules. The C library calls its own
 * malloc() that way too, so strdup() and getline() are seen.
 *
 * A table's entry is replaced only if it leads to the function that all modules share: a module
 * with an allocator of its own keeps it. Nothing is kept about modules, so that they may be
 * unloaded at any time. Who copied an address calls us for ever: we pass the call on.
 *
 * Threads: any; the entries are written at once.
 */

#include <stdbool.h>

/* Hooks all modules that are loaded. Returns the number of entries that are hooked now. */
int got_hook(void);
/* Hooks those that were loaded since; are_new: there may be some. Calls nothing that may wait for a
 * load to end. */
void got_hook_new_modules(bool are_new);
void got_unhook(void);

#endif
