/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KEPT_FILES_H
#define WICK_LOAD_NAMES_KEPT_FILES_H

/*
 * kept_files: copies of programs and libraries that were mapped while they were
 * recorded, though the name that they had leads to them no more: deleted, or replaced by
 * an update. They stay in the user's cache, by build id and by what the recording says of
 * the file, for who looks at it later.
 */

struct module;
struct recording_writer;

/* Keeps those that processes of the recording still have mapped. */
void kept_files_add(const struct recording_writer *writer);

/* The path of a kept file, with room for PATH_MAX bytes. 0 or -ENOENT. */
int kept_files_find(const struct module *module, char *ret_path);

#endif
