/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SYMBOL_FILES_H
#define WICK_AGENT_SYMBOL_FILES_H

/*
 * symbol_files: the programs and libraries that were sampled, so that their symbols can be sent to
 * a server that asks for them. A file is opened when it is first seen and kept open for a while: it
 * may be replaced, or its container may end. Later it is opened by its name, if that still leads to
 * a file of the same build id. Any thread may call.
 */

#include <limits.h>
#include <stdint.h>

#include "elf/elf.h"

struct module;
struct symbol_files;

#define SYMBOL_FILES_MAX 1024u
#define SYMBOL_FILES_OPEN_MAX 64u
#define SYMBOL_FILES_OPEN_S 600u

/* What is known of a file. */
struct symbol_file_found {
	struct build_id build_id;
	char path[PATH_MAX]; /* as its process saw it */
	char root[64];       /* of that process */
	int fd;              /* -1: not open; the caller closes it */
};

struct symbol_files *symbol_files_new(void); /* NULL if out of memory */
void symbol_files_free(struct symbol_files *files);

/* A process runs code of this file. */
void symbol_files_note(struct symbol_files *files, const struct module *module, uint32_t pid);

/* Finds a file and hands over its descriptor. Returns 0 or -ENOENT. */
int symbol_files_take(struct symbol_files *files, const struct build_id *id,
		      struct symbol_file_found *ret);

/* Returns the descriptor for another try: by its name the file may not be found any more. */
void symbol_files_put_back(struct symbol_files *files, struct symbol_file_found *found);

#endif
