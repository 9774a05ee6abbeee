/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_MODULES_H
#define WICK_PRELOAD_MODULES_H

/* modules: what the program loads and lets go while it runs. */

/* Waits until the recorder has looked at what was loaded, a fifth of a second at most. */
void modules_wait_until_known(void);

#endif
