/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/cache_dir.h"
#include "base/scope.h"
#include "cfi/table_io.h"
#include "elf/elf.h"

#define DEFAULT_LIMIT_BYTES (256ull << 20)
#define SUFFIX ".unwind"

struct cfi_cache {
	struct cache_dir dir;
	uint64_t hits;
	uint64_t misses;
};

int cfi_cache_open(const char *directory, uint64_t limit_bytes, struct cfi_cache **ret,
		   struct error *err)
{
	struct cfi_cache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return error_set(err, -ENOMEM, "out of memory opening the cache of unwind tables");
	r = cache_dir_init(&cache->dir, directory, "unwind", SUFFIX,
			   limit_bytes > 0 ? limit_bytes : DEFAULT_LIMIT_BYTES);
	if (r < 0) {
		free(cache);
		return error_file(err, r, "cannot cache unwind tables in %s", directory);
	}
	*ret = cache;
	return 0;
}

void cfi_cache_close(struct cfi_cache *cache)
{
	if (!cache)
		return;
	cache_dir_fini(&cache->dir);
	free(cache);
}

void cfi_cache_counts(const struct cfi_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses)
{
	*ret_hits = cache->hits;
	*ret_misses = cache->misses;
}

static void name_of(const struct table_identity *identity, char *name)
{
	struct build_id id = {.size = identity->build_id_size};
	char hex[2 * BUILD_ID_MAX + 1];

	memcpy(id.bytes, identity->build_id, id.size);
	build_id_format(&id, hex);
	/*
	 * Modules with the same build id have separate files, so that they do not evict each other.
	 */
	(void)snprintf(name, CACHE_NAME_MAX, "%s-%u-%016" PRIx64 SUFFIX, hex, identity->machine,
		       table_identity_hash(identity)); /* it fits */
}

/* Reads a kept table; any reason not to use it is an error. */
static int load(struct cfi_cache *cache, const char *name, const struct table_identity *identity,
		struct cfi_table *ret)
{
	uint64_t size;

	SCOPED(fd) int fd = cache_dir_open(&cache->dir, name, &size);
	if (fd < 0)
		return fd;
	return table_read(fd, size, identity, ret);
}

/* Keeps a table. Failure is ignored: the table is then compiled again. */
static void keep(struct cfi_cache *cache, const char *name, const struct table_identity *identity,
		 const struct cfi_table *table)
{
	struct bytes bytes = {0};

	table_write(table, identity, &bytes);
	cache_dir_keep(&cache->dir, name, &bytes);
	bytes_fini(&bytes);
}

static bool is_kept(const struct cfi_cache *cache, const struct table_identity *identity)
{
	return cache->dir.fd >= 0 && identity->build_id_size > 0;
}

int cfi_cache_read(struct cfi_cache *cache, const struct table_identity *identity,
		   struct cfi_table *ret)
{
	char name[CACHE_NAME_MAX];

	if (!is_kept(cache, identity))
		return -ENOENT;
	name_of(identity, name);
	return load(cache, name, identity, ret);
}

bool cfi_cache_has(struct cfi_cache *cache, const struct table_identity *identity)
{
	char name[CACHE_NAME_MAX];
	uint64_t size;

	if (!is_kept(cache, identity))
		return false;
	name_of(identity, name);
	SCOPED(fd) int fd = cache_dir_open(&cache->dir, name, &size);
	return fd >= 0;
}

int cfi_cache_get(struct cfi_cache *cache, struct elf_file *elf, struct cfi_table *ret,
		  struct error *err)
{
	struct table_identity identity = table_identity_of(elf);
	char name[CACHE_NAME_MAX];
	int r;

	if (cfi_cache_read(cache, &identity, ret) == 0) {
		cache->hits++;
		return 0;
	}
	r = cfi_compile(elf, ret, NULL, err);
	if (r < 0)
		return r;
	cache->misses++;
	name_of(&identity, name);
	if (is_kept(cache, &identity))
		keep(cache, name, &identity, ret);
	return 0;
}
