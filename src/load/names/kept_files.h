/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KEPT_FILES_H
#define WICK_LOAD_NAMES_KEPT_FILES_H

/*
 * kept_files: keeps copies of recorded programs and libraries that were deleted or replaced while
 * still mapped. The copies are in the user's cache, keyed by build id and by what the recording
 * knows about the file, for looking up names later.
 */

struct module;
struct recording_writer;

/* Copies such files that processes of the recording still have mapped. */
void kept_files_add(const struct recording_writer *writer);

/* Finds the path of a kept file; ret_path has room for PATH_MAX bytes. Returns 0 or -ENOENT. */
int kept_files_find(const struct module *module, char *ret_path);

#endif
