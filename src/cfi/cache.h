/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_CACHE_H
#define WICK_CFI_CACHE_H

/*
 * cache: unwind tables on disk, so that each module is compiled once. A table is found by
 * the build id and what the kernel says of the file, for a build id may be forged.
 *
 * The directory is private (0700) and files of another user are never trusted.
 * Files are written under another name and renamed, so two processes may work at
 * once; a damaged file is compiled anew; the oldest go when the whole gets large.
 */

#include <stdint.h>

#include "cfi/compile.h"

struct cfi_cache;
struct elf_file;
struct error;

/*
 * directory NULL: $XDG_CACHE_HOME/wick/unwind, ~/.cache/wick/unwind, or none for
 * a user without a home: then nothing is kept. limit_bytes 0: the default, 256 MB.
 */
int cfi_cache_open(const char *directory, uint64_t limit_bytes, struct cfi_cache **ret,
		   struct error *err);
void cfi_cache_close(struct cfi_cache *cache);

/*
 * The table of an ELF file: from the cache when it is there and whole, compiled
 * and kept otherwise. The caller releases it with cfi_table_fini().
 */
int cfi_cache_get(struct cfi_cache *cache, struct elf_file *elf, struct cfi_table *ret,
		  struct error *err);

/* How often the cache had the answer, and how often not. */
void cfi_cache_counts(const struct cfi_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses);

#endif
