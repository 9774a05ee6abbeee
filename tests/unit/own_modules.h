/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_OWN_MODULES_H
#define WICK_TESTS_OWN_MODULES_H

/*
 * own_modules: the modules of this process with their tables, compiled here.
 * For tests and measurements only: a watched program maps finished tables.
 * The caller releases them with own_modules_free() once nobody walks them.
 */

#include <pthread.h>
#include <stdlib.h>

#include "cfi/compile.h"
#include "elf/elf.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "unwind/own_stack.h"

static const struct unwind_table *compile_region(struct module_files *files,
						 const struct map_region *region,
						 const uint32_t **ret_pages)
{
	struct cfi_table *table = calloc(1, sizeof(*table));
	struct elf_file *elf = NULL;

	if (!table)
		abort();
	int r = module_files_open(files, 0, region, &elf, NULL);
	if (r == 0)
		r = cfi_compile(elf, table, NULL, NULL);
	elf_close(elf);
	if (r < 0 || table->table.row_count == 0) {
		cfi_table_fini(table);
		free(table);
		return NULL;
	}
	uint32_t *pages = calloc(unwind_pages_count(&table->table), sizeof(*pages));
	if (pages)
		unwind_pages_fill(&table->table, pages);
	*ret_pages = pages;
	return &table->table;
}

static inline struct unwind_modules *own_modules_build(uint64_t generation)
{
	struct maps maps = {0};
	struct module_files *files = module_files_new();

	if (!files || maps_read(&maps, 0, MAPS_EXECUTABLE_ONLY, NULL) < 0)
		abort();
	struct unwind_modules *modules =
		calloc(1, sizeof(*modules) + maps.count * sizeof(struct unwind_module));

	if (!modules)
		abort();
	modules->generation = generation;
	for (size_t i = 0; i < maps.count; i++) {
		struct unwind_module *module = &modules->items[modules->count++];
		struct module_place place;

		if (module_files_identify(files, 0, &maps.items[i], &place) < 0)
			abort();
		*module = (struct unwind_module){
			.start = maps.items[i].start, .end = maps.items[i].end, .bias = place.bias};
		module->table = compile_region(files, &maps.items[i], &module->pages);
	}
	module_files_free(files);
	maps_fini(&maps);
	return modules;
}

static inline void own_modules_free(const struct unwind_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		/* A table is the first member of the one that owns it. */
		void *table = (void *)(uintptr_t)modules->items[i].table;

		free((void *)(uintptr_t)modules->items[i].pages);
		if (table)
			cfi_table_fini(table);
		free(table);
	}
	free((void *)(uintptr_t)modules);
}

/* The stack of the calling thread. */
static inline struct unwind_stack preload_own_stack(void)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
	    pthread_attr_getstack(&attributes, &low, &size) != 0)
		abort();
	(void)pthread_attr_destroy(&attributes);
	return (struct unwind_stack){(uintptr_t)low, (uintptr_t)low + size};
}

#endif
