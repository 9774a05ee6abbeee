/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/table_arena.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vec.h"
#include "proc/address_space.h"
#include "process_stacks/module_tables.h"
#include "process_stacks/process_tracker.h"
#include "unwind/own_stack.h"
#include "wire/session.h"

#define GROW_BYTES (1u << 20)

/* The position of a module's table in the file. */
struct placed {
	bool known;
	bool empty;               /* no table, or no space for it */
	struct unwind_table head; /* its pointers are offsets */
	uint64_t pages;
};

struct table_arena {
	int fd;
	uint8_t *memory; /* mapping of the maximum size */
	uint64_t used;
	uint64_t size; /* of the file */
	uint64_t generation;
	VEC(struct placed) placed; /* by module */
};

struct table_arena *table_arena_new(int fd)
{
	struct table_arena *arena = calloc(1, sizeof(*arena));
	void *memory = mmap(NULL, SESSION_TABLES_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (!arena || memory == MAP_FAILED) {
		free(arena);
		return NULL;
	}
	arena->fd = fd;
	arena->memory = memory;
	arena->used = 64; /* offset 0 means none */
	return arena;
}

void table_arena_free(struct table_arena *arena)
{
	if (!arena)
		return;
	(void)munmap(arena->memory, SESSION_TABLES_BYTES);
	vec_fini(&arena->placed);
	free(arena);
}

/* Reserves this many bytes. Returns the offset; 0: no space. */
static uint64_t take(struct table_arena *arena, uint64_t bytes)
{
	uint64_t at = arena->used;
	uint64_t end = at + ((bytes + 63) & ~63ull);

	if (bytes > SESSION_TABLES_BYTES || end > SESSION_TABLES_BYTES)
		return 0;
	if (end > arena->size) {
		uint64_t size = (end + GROW_BYTES - 1) & ~(uint64_t)(GROW_BYTES - 1);

		if (posix_fallocate(arena->fd, 0, (off_t)size) != 0)
			return 0;
		arena->size = size;
	}
	arena->used = end;
	return at;
}

static uint64_t put(struct table_arena *arena, const void *bytes, uint64_t size)
{
	uint64_t at = take(arena, size);

	if (at)
		memcpy(arena->memory + at, bytes, size);
	return at;
}

static void place(struct table_arena *arena, const struct module_table *table, struct placed *ret)
{
	const struct unwind_table *from = table->table;
	uint64_t rows;
	uint64_t rules;

	*ret = (struct placed){.known = true, .empty = true};
	if (!from || from->row_count == 0)
		return;
	rows = put(arena, from->rows, (uint64_t)from->row_count * sizeof(*from->rows));
	rules = put(arena, from->rules, (uint64_t)from->rule_count * sizeof(*from->rules));
	if (table->pages)
		ret->pages = put(arena, table->pages,
				 (uint64_t)unwind_pages_count(from) * sizeof(*table->pages));
	ret->head = *from;
	ret->head.rows = (const struct unwind_row *)(uintptr_t)rows;
	ret->head.rules = (const struct unwind_rule *)(uintptr_t)rules;
	ret->empty = rows == 0 || rules == 0;
}

static const struct placed *placed_of(struct table_arena *arena, struct process_tracker *tracker,
				      uint32_t module)
{
	static const struct placed nothing = {.known = true, .empty = true};
	struct module_table table;

	if (vec_reserve(&arena->placed, (size_t)module + 1) < 0)
		return &nothing;
	while (arena->placed.count <= module)
		arena->placed.items[arena->placed.count++] = (struct placed){0};
	if (!arena->placed.items[module].known) {
		(void)process_tracker_table(tracker, module, true, &table);
		place(arena, &table, &arena->placed.items[module]);
	}
	return &arena->placed.items[module];
}

/* Fills an entry of a list, with addresses in the process. */
static void fill(const struct placed *placed, const struct address_region *region, uint64_t base,
		 uint64_t table_at, struct unwind_table *table, struct unwind_module *ret)
{
	*ret = (struct unwind_module){
		.start = region->start, .end = region->end, .bias = region->bias};
	if (placed->empty)
		return;
	*table = placed->head;
	table->rows =
		(const struct unwind_row *)(uintptr_t)(base + (uint64_t)(uintptr_t)table->rows);
	table->rules =
		(const struct unwind_rule *)(uintptr_t)(base + (uint64_t)(uintptr_t)table->rules);
	ret->table = (const struct unwind_table *)(uintptr_t)(base + table_at);
	if (placed->pages)
		ret->pages = (const uint32_t *)(uintptr_t)(base + placed->pages);
}

size_t table_arena_count(struct table_arena *arena, struct process_tracker *tracker,
			 const struct address_region *regions, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += !placed_of(arena, tracker, regions[i].module)->empty;
	return found;
}

uint64_t table_arena_list(struct table_arena *arena, struct process_tracker *tracker,
			  const struct address_region *regions, size_t count, uint64_t base,
			  uint64_t bytes)
{
	uint64_t list_bytes = sizeof(struct unwind_modules) + count * sizeof(struct unwind_module);
	uint64_t tables_at;
	uint64_t at;
	struct unwind_modules *list;

	for (size_t i = 0; i < count; i++)
		(void)placed_of(arena, tracker, regions[i].module); /* made before the list */
	at = take(arena, list_bytes + count * sizeof(struct unwind_table));
	if (at == 0 || arena->used > bytes)
		return 0; /* the process has mapped less than the arena has now */
	tables_at = at + list_bytes;
	list = (struct unwind_modules *)(arena->memory + at);
	list->generation = ++arena->generation;
	list->count = (uint32_t)count;
	list->unknown_code = true;
	for (size_t i = 0; i < count; i++) {
		uint64_t table_at = tables_at + i * sizeof(struct unwind_table);

		fill(placed_of(arena, tracker, regions[i].module), &regions[i], base, table_at,
		     (struct unwind_table *)(arena->memory + table_at), &list->items[i]);
	}
	return base + at;
}
