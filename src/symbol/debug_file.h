/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DEBUG_FILE_H
#define WICK_SYMBOL_DEBUG_FILE_H

/*
 * debug_file: finds the separate file with the symbols and the debug information
 * of a module.
 *
 * In this order: files and directories that a person named; the name in
 * .gnu_debuglink beside the module, in .debug/ there and below /usr/lib/debug;
 * .build-id directories; each below the root directory of the process first, when
 * there is one; and last what the fetch hook brings.
 *
 * A file is accepted only when it has the module's build id or, found by a link of a
 * module or to a file without one, the checksum that the link tells. Names are not
 * believed, and only regular files are opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct elf_file;
struct error;
struct module;

struct symbol_search {
	const char *const *paths; /* directories or files to look in besides the usual ones */
	size_t path_count;
	const char *root; /* where the process has its root directory; NULL: where we have it */
	/*
	 * Opens the file that a live process has mapped as the module, whatever its name
	 * means by now. Optional: NULL, files are opened by name.
	 */
	int (*open)(void *self, uint32_t module_id, struct elf_file **ret);
	void *open_self;
	/*
	 * Brings a debug file from elsewhere, such as a server, and writes its path, which
	 * has room for PATH_MAX bytes. Optional: NULL, nothing is fetched.
	 */
	int (*fetch)(void *self, const struct module *module, char *ret_path);
	void *fetch_self;
};

/* What debug_file_find() has found. */
struct debug_file {
	struct elf_file *elf; /* owned, as the path */
	char *path;
	bool is_fetched; /* a copy: its owner is who fetched it, not who wrote it */
};

/* Opens a regular file and tells what stat() does. */
int debug_file_open(const char *path, struct elf_file **ret, struct stat *ret_status,
		    struct error *err);

bool debug_file_has_symtab(const struct elf_file *elf);
bool debug_file_has_lines(const struct elf_file *elf); /* readable debug information */

/*
 * Finds a file that has what own, the module's file as opened from path, has not. own
 * is NULL when it could not be had. Returns 0, -ENOENT, or -ENOMEM; the caller closes
 * and frees what is in *ret.
 */
int debug_file_find(const struct module *module, struct elf_file *own, const char *path,
		    const struct symbol_search *search, struct debug_file *ret);

#endif
