/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_CACHE_H
#define WICK_CFI_CACHE_H

/*
 * cache: unwind tables on disk, so that each module is compiled once. A table is found by the build
 * id and by what the kernel knows about the file, because a build id may be forged.
 *
 * The directory is private (0700) and files of other users are never trusted. Files are written
 * under a temporary name and renamed, so two processes may work at once. A damaged file is compiled
 * again; the oldest files are deleted when the cache grows too large.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cfi/compile.h"

struct cfi_cache;
struct elf_file;
struct error;
struct table_identity;

/*
 * directory NULL: $XDG_CACHE_HOME/wick/unwind, ~/.cache/wick/unwind, or for a user without a home
 * nothing is kept. limit_bytes 0: the default, 256 MB.
 */
int cfi_cache_open(const char *directory, uint64_t limit_bytes, struct cfi_cache **ret,
		   struct error *err);
void cfi_cache_close(struct cfi_cache *cache);

/*
 * The table of an ELF file: from the cache if it is there and complete, else compiled and kept. The
 * caller releases it with cfi_table_fini().
 */
int cfi_cache_get(struct cfi_cache *cache, struct elf_file *elf, struct cfi_table *ret,
		  struct error *err);

/*
 * The same for a table that was there before, without its file. Returns 0, or a negative errno if
 * it is not there.
 */
int cfi_cache_read(struct cfi_cache *cache, const struct table_identity *identity,
		   struct cfi_table *ret);
bool cfi_cache_has(struct cfi_cache *cache, const struct table_identity *identity);

/* How often the table was in the cache, and how often not. */
void cfi_cache_counts(const struct cfi_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses);

#endif
