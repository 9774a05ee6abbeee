/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ADDRESS_MAP_H
#define WICK_HEAP_ADDRESS_MAP_H

/*
 * address_map: which parts of the address space held live blocks, and when.
 *
 * A row is a part of the address space of a process that has held a block. Parts start as pages;
 * when there are too many rows, neighbours are merged in pairs. Parts that never held blocks have
 * no row. A column is what was live at the end of a time step; steps grow in the same way. So
 * memory is bounded, regardless of the heap and the duration.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_MAP_ROWS 256u
#define HEAP_MAP_COLUMNS 256u
/* Further processes are left out: there would be room for only a few rows of each. */
#define HEAP_MAP_PROCESSES 64u

struct heap_map_row {
	uint32_t process;
	uint32_t number; /* private */
	uint64_t part;   /* its first address is part << shift */
	double live_bytes;
};

struct heap_map {
	uint32_t shift;     /* parts are 1 << shift bytes long */
	uint32_t row_count; /* in order of arrival until heap_map_finish() */
	uint32_t column_count;
	uint64_t step_ns; /* the duration of a column; the first begins with the analysis */
	struct heap_map_row rows[HEAP_MAP_ROWS];
	float live[HEAP_MAP_COLUMNS][HEAP_MAP_ROWS]; /* bytes, at the ends of columns */

	/* private */
	uint64_t end_ns;                   /* end of the current column */
	uint16_t index[4 * HEAP_MAP_ROWS]; /* by hash: row + 1, 0: none */
	uint32_t last;                     /* the last row used */
};

/* NULL: out of memory. The caller releases it with free(). */
struct heap_map *heap_map_new(uint64_t step_ns);

/* Ends the columns that end before time_ns. */
void heap_map_advance(struct heap_map *map, uint64_t time_ns);

static inline bool heap_map_is_over(const struct heap_map *map, uint64_t time_ns)
{
	return time_ns >= map->end_ns;
}

/* Adds a block that represents this many blocks, or removes it if times < 0. */
void heap_map_add(struct heap_map *map, uint32_t process, uint64_t address, uint64_t size_bytes,
		  double times);

/* Ends the current column and sorts rows by process and address. */
void heap_map_finish(struct heap_map *map);

#endif
