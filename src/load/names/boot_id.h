/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_BOOT_ID_H
#define WICK_LOAD_NAMES_BOOT_ID_H

/* boot_id: identifies this boot of this machine. Kernel addresses are valid for one boot only. */

#include <stddef.h>

/* Writes the id as text. Returns 0 or a negative errno. */
int boot_id_read(char *ret, size_t size);

#endif
