/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_MODULE_TABLES_H
#define WICK_PROCESS_STACKS_MODULE_TABLES_H

/*
 * module_tables: the unwind table of each module, created when a stack first needs it, or read from
 * the cache on disk. Used by one thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct build_id;
struct map_region;
struct module_files;
struct module_tables;
struct unwind_table;

struct module_table {
	const struct unwind_table *table; /* NULL: no CFI, or the file could not be read */
	const uint32_t *pages;            /* see unwind_pages_fill() */
};

/*
 * Borrows files. Without pages, finding a rule takes longer, and tables are smaller by 4 bytes for
 * 128 bytes of code. NULL if out of memory. Works without the cache if that is unusable.
 */
struct module_tables *module_tables_new(struct module_files *files, bool without_pages);
void module_tables_free(struct module_tables *tables);

/*
 * The table of a module by its id; region and pid say where its file is, in case it must be read. A
 * file with another build id than the given one (NULL or empty: unknown) has no table. *ret is
 * valid until the tables are freed or swept.
 */
void module_tables_get(struct module_tables *tables, uint32_t module, pid_t pid,
		       const struct map_region *region, const struct build_id *build_id,
		       struct module_table *ret);

/* The same if it was requested before, and is in memory; else false. */
bool module_tables_peek(const struct module_tables *tables, uint32_t module,
			struct module_table *ret);

/* Gives back the memory of tables that are mapped files. */
void module_tables_rest(struct module_tables *tables);

/*
 * The same, and frees other tables that were not used since the sweep before the last one, if the
 * cache has them: they are read from there when they are needed again.
 */
void module_tables_sweep(struct module_tables *tables);

#endif
