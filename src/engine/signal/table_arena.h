/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_TABLE_ARENA_H
#define WICK_ENGINE_SIGNAL_TABLE_ARENA_H

/*
 * table_arena: the file of unwind tables that all watched programs map.
 *
 * Rows, rules and pages of a module are in it once. A process has a list of its
 * modules in it, with addresses as they are in that process: it is used as it
 * lies there. What is written never moves, so programs need no lock to read.
 */

#include <stddef.h>
#include <stdint.h>

struct address_region;
struct process_tracker;
struct table_arena;

/* Takes the descriptor over as a loan. NULL without memory. */
struct table_arena *table_arena_new(int fd);
void table_arena_free(struct table_arena *arena);

/* How many regions of a process have tables, which are made where they are missing. */
size_t table_arena_count(struct table_arena *arena, struct process_tracker *tracker,
			 const struct address_region *regions, size_t count);

/*
 * Writes the list of a process that has the arena mapped at base, with as much as
 * `bytes` of it. Returns its address in that process, 0 when there was no room.
 * Tables are made where they are missing.
 */
uint64_t table_arena_list(struct table_arena *arena, struct process_tracker *tracker,
			  const struct address_region *regions, size_t count, uint64_t base,
			  uint64_t bytes);

#endif
