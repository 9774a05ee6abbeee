/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_SCRIPT_FOLDER_H
#define WICK_LOAD_NAMES_SCRIPT_FOLDER_H

/*
 * script_folder: the folder that the source of an interpreted function is read from.
 *
 * Interpreted code has no compilation directory, and the program itself chose the path. So only
 * files that are scripts by their name are read, and nothing else next to them.
 */

#include <stdint.h>

/* The length of the folder's path, /usr for what is below it; 0: the file is not read. */
uint32_t script_folder(const char *path);

#endif
