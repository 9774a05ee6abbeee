/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_DATA_FOLDER_H
#define WICK_CLI_OPTIONS_DATA_FOLDER_H

/* data_folder: where the server keeps its data: --data DIR, or the usual place of this user. */

#include <stddef.h>

struct error;

/* wanted NULL: /var/lib/wick for root, else $XDG_DATA_HOME/wick or ~/.local/share/wick. */
int data_folder(const char *wanted, char *ret, size_t size, struct error *err);

/* Creates it and its parents, mode 0700. */
int data_folder_create(const char *folder, struct error *err);

#endif
