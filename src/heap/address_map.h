/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ADDRESS_MAP_H
#define WICK_HEAP_ADDRESS_MAP_H

/*
 * address_map: which parts of the address space held live blocks, and when.
 *
 * A row is a part of the addresses of a process in which a block has been: parts are as long as
 * pages at first, and when there are too many rows two neighbours become one. Parts without
 * blocks have no row. A column is what was live at the end of a step of time; steps grow like
 * rows do. So memory has a limit, whatever the heap and however long it is watched.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_MAP_ROWS 256u
#define HEAP_MAP_COLUMNS 256u
/* Others are left out: there would be no room for more than a row of each. */
#define HEAP_MAP_PROCESSES 64u

struct heap_map_row {
	uint32_t process;
	uint32_t number; /* private */
	uint64_t part;   /* its first address is part << shift */
	double live_bytes;
};

struct heap_map {
	uint32_t shift;     /* parts are 1 << shift bytes long */
	uint32_t row_count; /* in the order in which they came until heap_map_finish() */
	uint32_t column_count;
	uint64_t step_ns; /* the time of a column; the first begins with the analysis */
	struct heap_map_row rows[HEAP_MAP_ROWS];
	float live[HEAP_MAP_COLUMNS][HEAP_MAP_ROWS]; /* bytes, at the ends of columns */

	/* private */
	uint64_t end_ns;                   /* of the present column */
	uint16_t index[4 * HEAP_MAP_ROWS]; /* by hash: row + 1, 0: none */
	uint32_t last;                     /* the row that was used last */
};

/* NULL without memory. The caller releases it with free(). */
struct heap_map *heap_map_new(uint64_t step_ns);

/* Ends the columns that are over before time_ns. */
void heap_map_advance(struct heap_map *map, uint64_t time_ns);

static inline bool heap_map_is_over(const struct heap_map *map, uint64_t time_ns)
{
	return time_ns >= map->end_ns;
}

/* A block is there from now on, or with times < 0 no more. It stands for so many. */
void heap_map_add(struct heap_map *map, uint32_t process, uint64_t address, uint64_t size_bytes,
		  double times);

/* Ends the present column, and puts rows in order of process and address. */
void heap_map_finish(struct heap_map *map);

#endif
