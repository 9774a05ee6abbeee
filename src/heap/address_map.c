/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/address_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/vec.h"

#define PAGE_BITS 12u
#define ADDRESS_BITS 64u

struct heap_map *heap_map_new(uint64_t step_ns)
{
	struct heap_map *map = calloc(1, sizeof(*map));

	if (map) {
		map->shift = PAGE_BITS;
		map->step_ns = map->end_ns = step_ns;
	}
	return map;
}

/* The index slot of a row, or where it belongs. */
static uint32_t place_of(const struct heap_map *map, uint32_t process, uint64_t part)
{
	uint64_t hash = hash_pair(process, part);
	uint32_t mask = (uint32_t)ARRAY_SIZE(map->index) - 1;
	uint32_t at = (uint32_t)(hash ^ hash >> 32) & mask;

	while (map->index[at] != 0) {
		const struct heap_map_row *row = &map->rows[map->index[at] - 1];

		if (row->process == process && row->part == part)
			break;
		at = (at + 1) & mask;
	}
	return at;
}

/* Adds row `from` to row `to`. */
static void merge_rows(struct heap_map *map, uint32_t to, uint32_t from)
{
	map->rows[to].live_bytes += map->rows[from].live_bytes;
	for (uint32_t i = 0; i < map->column_count; i++)
		map->live[i][to] += map->live[i][from];
}

static void move_row(struct heap_map *map, uint32_t to, uint32_t from)
{
	map->rows[to] = map->rows[from];
	for (uint32_t i = 0; i < map->column_count; i++)
		map->live[i][to] = map->live[i][from];
}

/* Doubles the length of parts. */
static void coarsen(struct heap_map *map)
{
	uint32_t count = map->row_count;

	map->shift++;
	map->row_count = 0;
	map->last = 0;
	memset(map->index, 0, sizeof(map->index));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at;

		map->rows[i].part >>= 1;
		at = place_of(map, map->rows[i].process, map->rows[i].part);
		if (map->index[at] != 0) {
			merge_rows(map, map->index[at] - 1u, i);
			continue;
		}
		move_row(map, map->row_count, i);
		map->index[at] = (uint16_t)++map->row_count;
	}
}

/* The row of a part, created if missing; HEAP_MAP_ROWS: no space. */
static uint32_t row_of(struct heap_map *map, uint32_t process, uint64_t part)
{
	const struct heap_map_row *last = &map->rows[map->last];
	uint32_t at;

	if (map->row_count > 0 && last->part == part && last->process == process)
		return map->last;
	at = place_of(map, process, part);
	if (map->index[at] == 0) {
		if (map->row_count == HEAP_MAP_ROWS)
			return HEAP_MAP_ROWS;
		for (uint32_t i = 0; i < map->column_count; i++)
			map->live[i][map->row_count] = 0;
		map->rows[map->row_count] = (struct heap_map_row){.process = process, .part = part};
		map->index[at] = (uint16_t)++map->row_count;
	}
	map->last = map->index[at] - 1u;
	return map->last;
}

/* Makes room for all rows of a block. False if all rows belong to other processes. */
static bool make_rows(struct heap_map *map, uint32_t process, uint64_t address, uint64_t last)
{
	while (map->shift < ADDRESS_BITS - 1) {
		uint64_t part = address >> map->shift;

		if ((last >> map->shift) - part < HEAP_MAP_ROWS) {
			while (part <= last >> map->shift &&
			       row_of(map, process, part) < HEAP_MAP_ROWS)
				part++;
			if (part > last >> map->shift)
				return true;
		}
		coarsen(map);
	}
	return false;
}

void heap_map_add(struct heap_map *map, uint32_t process, uint64_t address, uint64_t size_bytes,
		  double times)
{
	uint64_t last = address + (size_bytes > 0 ? size_bytes - 1 : 0);

	if (process >= HEAP_MAP_PROCESSES)
		return;
	if (last < address)
		last = UINT64_MAX;
	/* A removed block already has its rows. */
	if (times > 0 && !make_rows(map, process, address, last))
		return;
	for (uint64_t part = address >> map->shift; part <= last >> map->shift; part++) {
		uint64_t begin = part << map->shift;
		uint64_t end = begin + ((UINT64_C(1) << map->shift) - 1);
		uint64_t from = begin > address ? begin : address;
		uint64_t to = end < last ? end : last;
		uint32_t row = row_of(map, process, part);

		if (row < HEAP_MAP_ROWS && size_bytes > 0)
			map->rows[row].live_bytes += times * ((double)(to - from) + 1);
	}
}

static void end_column(struct heap_map *map)
{
	if (map->column_count == HEAP_MAP_COLUMNS) {
		/* Keeps every second column. */
		for (uint32_t i = 0; i < HEAP_MAP_COLUMNS / 2; i++)
			memcpy(map->live[i], map->live[2 * i + 1], sizeof(map->live[i]));
		map->column_count /= 2;
		map->step_ns *= 2;
		map->end_ns = (map->column_count + 1) * map->step_ns;
		return;
	}
	for (uint32_t i = 0; i < map->row_count; i++)
		map->live[map->column_count][i] = (float)map->rows[i].live_bytes;
	map->column_count++;
	map->end_ns += map->step_ns;
}

void heap_map_advance(struct heap_map *map, uint64_t time_ns)
{
	while (heap_map_is_over(map, time_ns))
		end_column(map);
}

static int compare(const void *a, const void *b)
{
	const struct heap_map_row *x = a;
	const struct heap_map_row *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

void heap_map_finish(struct heap_map *map)
{
	float sorted[HEAP_MAP_ROWS];

	if (map->column_count == HEAP_MAP_COLUMNS)
		end_column(map); /* makes room */
	end_column(map);
	if (map->row_count == 0)
		return;
	for (uint32_t i = 0; i < map->row_count; i++)
		map->rows[i].number = i;
	qsort(map->rows, map->row_count, sizeof(*map->rows), compare);
	for (uint32_t i = 0; i < map->column_count; i++) {
		for (uint32_t k = 0; k < map->row_count; k++)
			sorted[k] = map->live[i][map->rows[k].number];
		memcpy(map->live[i], sorted, map->row_count * sizeof(*sorted));
	}
}
