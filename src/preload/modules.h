/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_MODULES_H
#define WICK_PRELOAD_MODULES_H

/* modules: modules that the program loads and unloads while it runs. */

/* Waits until the recorder has seen newly loaded modules, a fifth of a second at most. */
void modules_wait_until_known(void);

#endif
