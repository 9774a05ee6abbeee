/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OUTPUT_FOLDER_H
#define WICK_BASE_FILE_OUTPUT_FOLDER_H

/*
 * output_folder: opens the folder that a result goes to.
 *
 * Links in the path are followed, unless they are in a folder that others can write to (/tmp) and
 * belong to another user: that user would choose which file is overwritten. fs.protected_symlinks
 * does the same where it is set.
 */

#include <stdbool.h>
#include <sys/stat.h>

/* Whether users other than its owner can create files in a folder. */
bool output_folder_is_open(const struct stat *folder);

/* Returns an O_PATH descriptor, -ELOOP for a link that is not followed, or another -errno. */
int output_folder_open(const char *path);

#endif
