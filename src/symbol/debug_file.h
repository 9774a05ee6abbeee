/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DEBUG_FILE_H
#define WICK_SYMBOL_DEBUG_FILE_H

/*
 * debug_file: finds the separate file with the symbols and the debug information of a module.
 *
 * It tries, in this order: files and directories that the user named; the name in .gnu_debuglink
 * beside the module, in .debug/ there and below /usr/lib/debug; .build-id directories; each below
 * the root directory of the process first, if there is one; and finally the fetch hook.
 *
 * A file is accepted only if it has the module's build id or, when the module or the file has none
 * and it was found through a link, the checksum in the link. Names are not trusted, and only
 * regular files are opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct cache_dir;
struct elf_file;
struct error;
struct module;

struct symbol_search {
	const char *const *paths; /* directories or files to search besides the usual ones */
	size_t path_count;
	const char *root; /* the root directory of the process; NULL: the same as ours */
	/*
	 * Opens the file that a live process has mapped as the module, even if its name now refers
	 * to another file. Optional: NULL, files are opened by name.
	 */
	int (*open)(void *self, uint32_t module_id, struct elf_file **ret);
	void *open_self;
	/*
	 * Fetches a debug file from elsewhere, such as a server, and writes its path, which has
	 * room for PATH_MAX bytes. Optional: NULL, nothing is fetched.
	 */
	int (*fetch)(void *self, const struct module *module, char *ret_path);
	void *fetch_self;
	/* Where tables of symbols are kept on disk. Optional: NULL, in memory. */
	struct cache_dir *tables;
	bool no_files; /* open none: the names of modules come from a stranger */
	bool by_id;    /* open only what is found by build id: likewise */
};

/* The result of debug_file_find(). */
struct debug_file {
	struct elf_file *elf; /* owned, like the path */
	char *path;
	bool is_fetched; /* a copy: its owner is the user who fetched it, not its writer */
};

/* Opens a regular file and returns what stat() reports. */
int debug_file_open(const char *path, struct elf_file **ret, struct stat *ret_status,
		    struct error *err);

bool debug_file_has_symtab(const struct elf_file *elf);
bool debug_file_has_lines(const struct elf_file *elf); /* readable debug information */

/*
 * Finds a file with what is missing in own, the module's file as opened from path. own is NULL if
 * that could not be opened. Returns 0, -ENOENT, or -ENOMEM; the caller closes and frees what is in
 * *ret.
 */
int debug_file_find(const struct module *module, struct elf_file *own, const char *path,
		    const struct symbol_search *search, struct debug_file *ret);

#endif
