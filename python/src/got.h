/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_GOT_H
#define WICK_PYTHON_GOT_H

/*
 * got: makes the modules of the process call us instead of malloc() and related functions, by
 * replacing entries in their global offset tables (GOT). The C library calls its own malloc()
 * through its GOT too, so allocations in strdup() and getline() are seen.
 *
 * An entry is replaced only if it points to the function that all modules share; a module with an
 * allocator of its own keeps it. No list of modules is kept, so they may be unloaded at any time.
 * Code that has copied one of our addresses keeps calling us after got_unhook(); we then pass the
 * call on.
 *
 * Threads: any; each entry is written with one atomic store.
 */

#include <stdbool.h>

/* Hooks all loaded modules. Returns the number of entries that are now hooked. */
int got_hook(void);
/*
 * Hooks modules that were loaded since the last call. are_new: there may be some. Does not wait for
 * a dlopen() to finish.
 */
void got_hook_new_modules(bool are_new);
void got_unhook(void);

#endif
