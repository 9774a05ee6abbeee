/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_STORE_H
#define WICK_SYMBOL_SYMBOL_STORE_H

/*
 * symbol_store: results from debug information, kept on disk so that a binary's debug information
 * does not have to be read again. They are found by the build id and by what the kernel knows about
 * the file, because anybody may give a file the build id of another one.
 *
 *	header     magic, version, key, counts, checksum of what follows
 *	addresses  sorted, each with the start of its function, place and number of its frames
 *	frames     name, file, line, column
 *	names      function as shown, linker name
 *	text       NUL-terminated texts that the others point into
 *
 * Only addresses that were looked up are kept. A file that is damaged, of another version or of
 * another key is ignored and written again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct cache_dir;
struct file_identity;
struct symbol_frame;
struct symbol_store;

#define SYMBOL_STORE_SUFFIX ".symbols"
#define SYMBOL_STORE_LIMIT_BYTES (512ull << 20)

/*
 * Opens the results kept for the file with a module's debug information, in a form (any number that
 * distinguishes kinds of results). Borrows dir. NULL if out of memory, or without a build id, a
 * file or a directory.
 */
struct symbol_store *symbol_store_open(struct cache_dir *dir, const struct build_id *id,
				       const struct file_identity *file, uint32_t form);

/* Writes new results if that is worthwhile; NULL is fine. is_partial: nothing is kept. */
void symbol_store_close(struct symbol_store *store, bool is_partial);

/*
 * Fills at most max frames of an address. Returns their number, 0 if debug information is known to
 * have none, -ENOENT if nothing is known. Their texts are valid until the store is closed.
 */
int symbol_store_find(const struct symbol_store *store, uint64_t vaddr, struct symbol_frame *frames,
		      size_t max);

/*
 * Adds a result, possibly without frames. Its texts are borrowed until the store is closed; equal
 * ones may be one.
 */
void symbol_store_add(struct symbol_store *store, uint64_t vaddr, const struct symbol_frame *frames,
		      size_t count);

#endif
