/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_TABLE_ARENA_H
#define WICK_ENGINE_SIGNAL_TABLE_ARENA_H

/*
 * table_arena: the file of unwind tables that all watched programs map.
 *
 * It holds the rows, rules and pages of each module once, and for each process a list of its
 * modules with addresses valid in that process, which uses it in place. Data never moves once
 * written, so programs read it without locks.
 */

#include <stddef.h>
#include <stdint.h>

struct address_region;
struct process_tracker;
struct table_arena;

/* Borrows the descriptor. NULL: out of memory. */
struct table_arena *table_arena_new(int fd);
void table_arena_free(struct table_arena *arena);

/* The number of regions of a process with tables; builds missing tables. */
size_t table_arena_count(struct table_arena *arena, struct process_tracker *tracker,
			 const struct address_region *regions, size_t count);

/*
 * Writes the list of a process that has mapped `bytes` of the arena at base. Returns its address in
 * that process; 0: no space. Builds missing tables.
 */
uint64_t table_arena_list(struct table_arena *arena, struct process_tracker *tracker,
			  const struct address_region *regions, size_t count, uint64_t base,
			  uint64_t bytes);

#endif
