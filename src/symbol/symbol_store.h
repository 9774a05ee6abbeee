/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_STORE_H
#define WICK_SYMBOL_SYMBOL_STORE_H

/*
 * symbol_store: answers of debug information, kept on disk, so that a second look at a
 * binary needs not read it again. They are found by the build id and by what the kernel says
 * of the file, for anybody may give a file the build id of another one.
 *
 *	header     magic, version, key, counts, checksum of what follows
 *	addresses  sorted, each with the start of its function, place and number of its frames
 *	frames     name, file, line, column
 *	names      function as shown, linker name
 *	text       NUL-terminated texts that the others point into
 *
 * Only what was asked is kept. A file that is damaged, of another version or of
 * another key is as good as none, and is written anew.
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
 * Opens what is kept of the file with a module's debug information in a form (any number
 * that tells kinds of answers apart). Borrows dir. NULL without memory, a build id, a file or
 * a directory.
 */
struct symbol_store *symbol_store_open(struct cache_dir *dir, const struct build_id *id,
				       const struct file_identity *file, uint32_t form);

/* Writes what is new, when it is worth it; NULL is fine. is_partial: it is not to be kept. */
void symbol_store_close(struct symbol_store *store, bool is_partial);

/*
 * Fills at most max frames of an address; returns how many there are, 0 when debug
 * information is known to have none, -ENOENT when nothing is known. Their texts are valid
 * until the store is closed.
 */
int symbol_store_find(const struct symbol_store *store, uint64_t vaddr, struct symbol_frame *frames,
		      size_t max);

/* Notes an answer, of no frames perhaps. Its texts are borrowed until the store is closed; equal
 * ones may be one. */
void symbol_store_add(struct symbol_store *store, uint64_t vaddr, const struct symbol_frame *frames,
		      size_t count);

#endif
