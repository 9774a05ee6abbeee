/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/module_tables.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "cfi/cache.h"
#include "cfi/compile.h"
#include "cfi/table_io.h"
#include "elf/elf.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "unwind/walk.h"

/* Allocated individually: callers keep pointers to the table. */
struct entry {
	struct cfi_table cfi;
	uint32_t *pages;
	struct table_identity identity; /* in the cache */
	uint64_t used;                  /* the number of sweeps when it was last used */
	bool is_awake;                  /* used since the last rest */
	bool is_swept;
};

struct module_tables {
	struct module_files *files;
	struct cfi_cache *cache; /* NULL: none */
	uint64_t sweeps;
	bool without_pages;
	bool is_awake;               /* one of the entries is */
	VEC(struct entry *) entries; /* by module id; NULL: not requested yet */
};

struct module_tables *module_tables_new(struct module_files *files, bool without_pages)
{
	struct module_tables *tables = calloc(1, sizeof(*tables));
	struct error err;

	if (!tables)
		return NULL;
	tables->files = files;
	tables->without_pages = without_pages;
	if (cfi_cache_open(NULL, 0, &tables->cache, &err) < 0)
		log_debug("no cache of unwind tables: %s", err.text);
	return tables;
}

void module_tables_free(struct module_tables *tables)
{
	size_t i;

	if (!tables)
		return;
	for (i = 0; i < tables->entries.count; i++) {
		struct entry *entry = tables->entries.items[i];

		if (!entry)
			continue;
		cfi_table_fini(&entry->cfi);
		free(entry->pages);
		free(entry);
	}
	vec_fini(&tables->entries);
	if (tables->cache)
		cfi_cache_close(tables->cache);
	free(tables);
}

static void make_pages(const struct module_tables *tables, struct entry *entry)
{
	uint32_t count = tables->without_pages ? 0 : unwind_pages_count(&entry->cfi.table);

	entry->pages = count > 0 ? calloc(count, sizeof(*entry->pages)) : NULL;
	if (entry->pages)
		unwind_pages_fill(&entry->cfi.table, entry->pages);
}

/* Reads or compiles the table; leaves an entry without rows on failure. */
static void fill(struct module_tables *tables, pid_t pid, const struct map_region *region,
		 const struct build_id *build_id, struct entry *entry)
{
	uint64_t start_ns = clock_monotonic_ns();
	struct elf_file *elf;
	struct error err;
	int r = module_files_open(tables->files, pid, region, &elf, &err);

	if (r < 0) {
		log_debug("no unwind table for %s: %s", region->path, err.text);
		return;
	}
	if (build_id && build_id->size > 0 && !build_id_equal(build_id, elf_build_id(elf))) {
		log_debug("no unwind table for %s: another build", region->path);
		elf_close(elf);
		return;
	}
	entry->identity = table_identity_of(elf);
	r = tables->cache ? cfi_cache_get(tables->cache, elf, &entry->cfi, &err)
			  : cfi_compile(elf, &entry->cfi, NULL, &err);
	elf_close(elf);
	if (r < 0) {
		log_debug("no unwind table for %s: %s", region->path, err.text);
		return;
	}
	log_debug("unwind table for %s: %u rows in %.1f ms", region->path,
		  (unsigned int)entry->cfi.table.row_count,
		  (double)(clock_monotonic_ns() - start_ns) / NS_PER_MS);
	make_pages(tables, entry);
}

/* Reads a swept table again: from the cache, or else from its file. */
static void restore(struct module_tables *tables, pid_t pid, const struct map_region *region,
		    const struct build_id *build_id, struct entry *entry)
{
	entry->is_swept = false;
	if (cfi_cache_read(tables->cache, &entry->identity, &entry->cfi) == 0)
		make_pages(tables, entry);
	else
		fill(tables, pid, region, build_id, entry);
}

static struct entry *entry_of(struct module_tables *tables, uint32_t module, pid_t pid,
			      const struct map_region *region, const struct build_id *build_id)
{
	struct entry *entry;

	while (tables->entries.count <= module)
		if (vec_push(&tables->entries, NULL) < 0)
			return NULL;
	if (!tables->entries.items[module]) {
		tables->entries.items[module] = calloc(1, sizeof(struct entry));
		if (tables->entries.items[module])
			fill(tables, pid, region, build_id, tables->entries.items[module]);
	}
	entry = tables->entries.items[module];
	if (entry && entry->is_swept)
		restore(tables, pid, region, build_id, entry);
	if (entry) {
		entry->used = tables->sweeps;
		entry->is_awake = tables->is_awake = true;
	}
	return entry;
}

static void show(const struct entry *entry, struct module_table *ret)
{
	*ret = (struct module_table){0};
	if (!entry || entry->cfi.table.row_count == 0)
		return;
	ret->table = &entry->cfi.table;
	ret->pages = entry->pages;
}

void module_tables_get(struct module_tables *tables, uint32_t module, pid_t pid,
		       const struct map_region *region, const struct build_id *build_id,
		       struct module_table *ret)
{
	show(entry_of(tables, module, pid, region, build_id), ret);
}

bool module_tables_peek(const struct module_tables *tables, uint32_t module,
			struct module_table *ret)
{
	const struct entry *entry =
		module < tables->entries.count ? tables->entries.items[module] : NULL;

	show(entry, ret);
	return entry && !entry->is_swept;
}

void module_tables_rest(struct module_tables *tables)
{
	for (size_t i = 0; tables->is_awake && i < tables->entries.count; i++) {
		struct entry *entry = tables->entries.items[i];

		if (entry && entry->is_awake)
			cfi_table_rest(&entry->cfi);
		if (entry)
			entry->is_awake = false;
	}
	tables->is_awake = false;
}

void module_tables_sweep(struct module_tables *tables)
{
	tables->sweeps++;
	module_tables_rest(tables);
	for (size_t i = 0; tables->cache && i < tables->entries.count; i++) {
		struct entry *entry = tables->entries.items[i];

		if (!entry || entry->is_swept || entry->used + 1 >= tables->sweeps ||
		    entry->cfi.table.row_count == 0 || entry->cfi.mapped_bytes > 0 ||
		    !cfi_cache_has(tables->cache, &entry->identity))
			continue;
		cfi_table_fini(&entry->cfi);
		free(entry->pages);
		*entry = (struct entry){.identity = entry->identity, .is_swept = true};
	}
}
