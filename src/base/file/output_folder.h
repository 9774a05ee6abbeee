/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OUTPUT_FOLDER_H
#define WICK_BASE_FILE_OUTPUT_FOLDER_H

/*
 * output_folder: opens the folder that a result goes to.
 *
 * A link on the way is followed, unless it lies in a folder that others can write to (/tmp) and
 * is of another user: that one would choose what is written over. fs.protected_symlinks does the
 * same, where it is set.
 */

#include <stdbool.h>
#include <sys/stat.h>

/* Whether others than its owner can put names into a folder. */
bool output_folder_is_open(const struct stat *folder);

/* Returns a descriptor of O_PATH, -ELOOP for a link that is not followed, or another -errno. */
int output_folder_open(const char *path);

#endif
