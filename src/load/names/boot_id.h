/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_BOOT_ID_H
#define WICK_LOAD_NAMES_BOOT_ID_H

/* boot_id: which start of which machine this is: kernel addresses hold for one alone. */

#include <stddef.h>

/* Writes the id as text. Returns 0 or a negative errno. */
int boot_id_read(char *ret, size_t size);

#endif
