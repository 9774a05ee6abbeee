/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/footprint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/memory_reading.h"

#define PAGE_BITS 12u
#define CHUNK_BITS 26u
#define CHUNK_WORDS ((1u << (CHUNK_BITS - PAGE_BITS)) / 64)
#define CHUNK_BYTES (UINT64_C(1) << CHUNK_BITS)
#define MAX_CHUNKS 16384u
#define MOST_BLOCK_BYTES (UINT64_C(1) << 40) /* only the first page of larger blocks counts */
#define READINGS_LIMIT 65536u

/* A bit for each page of 64 MiB that a block has covered. */
struct heap_chunk {
	uint32_t process;
	uint64_t number; /* of the address, without CHUNK_BITS */
	uint64_t pages[CHUNK_WORDS];
};

void heap_footprint_fini(struct heap_footprint *footprint)
{
	for (size_t i = 0; i < footprint->chunk_count; i++)
		free(footprint->chunks[i]);
	free(footprint->chunks);
	vec_fini(&footprint->readings);
	vec_fini(&footprint->held);
}

/* The position of a chunk, or where it belongs. */
static size_t find(const struct heap_footprint *footprint, uint32_t process, uint64_t number)
{
	size_t low = 0;
	size_t high = footprint->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct heap_chunk *chunk = footprint->chunks[middle];

		if (chunk->process < process ||
		    (chunk->process == process && chunk->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_chunk(const struct heap_chunk *chunk, uint32_t process, uint64_t number)
{
	return chunk->process == process && chunk->number == number;
}

/* Sets last to the chunk of an address. 0 or -ENOMEM; beyond the limit last is unchanged. */
static int go_to(struct heap_footprint *footprint, uint32_t process, uint64_t number)
{
	size_t at = find(footprint, process, number);
	struct heap_chunk *chunk;

	if (at < footprint->chunk_count && is_chunk(footprint->chunks[at], process, number)) {
		footprint->last = footprint->chunks[at];
		return 0;
	}
	if (footprint->chunk_count == MAX_CHUNKS)
		return 0;
	if (footprint->chunk_count == footprint->chunk_capacity)
		footprint->chunks =
			vec_grow(footprint->chunks, &footprint->chunk_capacity,
				 footprint->chunk_count + 1, sizeof(struct heap_chunk *));
	if (footprint->chunk_count == footprint->chunk_capacity)
		return -ENOMEM;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->process = process;
	chunk->number = number;
	memmove(footprint->chunks + at + 1, footprint->chunks + at,
		(footprint->chunk_count - at) * sizeof(struct heap_chunk *));
	footprint->chunks[at] = chunk;
	footprint->chunk_count++;
	footprint->last = chunk;
	return 0;
}

/* Sets or clears the bits of pages of a chunk, from the first up to the last. */
static void mark_pages(struct heap_chunk *chunk, uint32_t first, uint32_t last, bool covered)
{
	for (uint32_t word = first / 64; word <= last / 64; word++) {
		uint64_t bits = UINT64_MAX;

		if (word == first / 64)
			bits &= UINT64_MAX << first % 64;
		if (word == last / 64)
			bits &= UINT64_MAX >> (63 - last % 64);
		chunk->pages[word] =
			covered ? chunk->pages[word] | bits : chunk->pages[word] & ~bits;
	}
}

int heap_footprint_cover(struct heap_footprint *footprint, uint32_t process, uint64_t address,
			 uint64_t size_bytes, bool covered)
{
	uint64_t last = address + (size_bytes > 0 ? size_bytes - 1 : 0);

	if (last < address || last - address > MOST_BLOCK_BYTES)
		last = address;
	for (uint64_t number = address >> CHUNK_BITS; number <= last >> CHUNK_BITS; number++) {
		uint64_t begin = number << CHUNK_BITS;
		uint64_t from = address > begin ? address - begin : 0;
		uint64_t to = last - begin < CHUNK_BYTES ? last - begin : CHUNK_BYTES - 1;

		if ((!footprint->last || !is_chunk(footprint->last, process, number)) &&
		    go_to(footprint, process, number) < 0)
			return -ENOMEM;
		if (is_chunk(footprint->last, process, number))
			mark_pages(footprint->last, (uint32_t)(from >> PAGE_BITS),
				   (uint32_t)(to >> PAGE_BITS), covered);
	}
	return 0;
}

/* How much of a region blocks have covered. */
static uint64_t covered_bytes(const struct heap_footprint *footprint, uint32_t process,
			      const struct memory_region *region)
{
	uint64_t end = region->start + region->size_bytes;
	uint64_t pages = 0;

	for (size_t at = find(footprint, process, region->start >> CHUNK_BITS);
	     at < footprint->chunk_count; at++) {
		const struct heap_chunk *chunk = footprint->chunks[at];
		uint64_t begin = chunk->number << CHUNK_BITS;
		uint64_t from = region->start > begin ? region->start - begin : 0;
		uint64_t to = end - begin < CHUNK_BYTES ? end - begin : CHUNK_BYTES;

		if (chunk->process != process || begin >= end)
			break;
		for (uint64_t page = from >> PAGE_BITS; page < to >> PAGE_BITS; page++)
			pages += chunk->pages[page / 64] >> page % 64 & 1;
	}
	return pages << PAGE_BITS;
}

struct heap_held *heap_footprint_held(struct heap_footprint *footprint, uint32_t process)
{
	while (footprint->held.count <= process)
		if (vec_push(&footprint->held, (struct heap_held){0}) < 0)
			return NULL;
	return &footprint->held.items[process];
}

/* Drops every second reading, but keeps the ends of processes. */
static void thin_out(struct heap_footprint *footprint)
{
	size_t seen[MEMORY_READING_KINDS] = {0};
	size_t n = 0;

	for (size_t i = 0; i < footprint->readings.count; i++) {
		struct heap_reading reading = footprint->readings.items[i];

		if (reading.kind == MEMORY_GONE || seen[reading.kind]++ % 2 == 1)
			footprint->readings.items[n++] = reading;
	}
	footprint->readings.count = n;
	footprint->stride = footprint->stride ? footprint->stride * 2 : 2;
}

static void add_split(const struct heap_footprint *footprint, const struct memory_reading *from,
		      struct heap_reading *ret)
{
	const struct memory_split *split = &from->split;

	ret->heap_size_bytes = (double)split->heap_size_bytes;
	ret->heap_bytes = (double)split->heap_bytes;
	ret->stack_bytes = (double)split->stack_bytes;
	ret->file_bytes = (double)split->file_bytes;
	ret->own_bytes = (double)split->own_bytes;
	ret->other_bytes = (double)split->rest_bytes;
	for (size_t i = 0; i < from->region_count; i++) {
		const struct memory_region *region = &from->regions[i];
		uint64_t covered = covered_bytes(footprint, ret->process, region);
		uint64_t resident =
			covered < region->resident_bytes ? covered : region->resident_bytes;

		/* If blocks are sampled, one of them represents its neighbours. */
		if (footprint->sampled && covered > 0) {
			covered = region->size_bytes;
			resident = region->resident_bytes;
		}
		ret->heap_size_bytes += (double)covered;
		ret->heap_bytes += (double)resident;
		ret->other_bytes += (double)(region->resident_bytes - resident);
	}
}

int heap_footprint_read(struct heap_footprint *footprint, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading)
{
	const struct heap_held *held = heap_footprint_held(footprint, process);
	size_t limit = footprint->limit ? footprint->limit : READINGS_LIMIT;
	struct heap_reading kept = {.time_ns = time_ns,
				    .process = process,
				    .kind = (uint8_t)reading->kind,
				    .resident_bytes = (double)reading->resident_bytes,
				    .shared_bytes = (double)reading->shared_bytes};

	if (!held)
		return -ENOMEM;
	if (reading->kind != MEMORY_GONE && footprint->stride > 0 &&
	    footprint->passed++ % footprint->stride != 0)
		return 0;
	kept.held = *held;
	if (reading->kind == MEMORY_SPLIT)
		add_split(footprint, reading, &kept);
	if (footprint->readings.count >= limit)
		thin_out(footprint);
	/* Only ends of processes are left: further ones are dropped. */
	return footprint->readings.count >= limit ? 0 : vec_push(&footprint->readings, kept);
}

/* The last reading of a process. */
struct latest {
	double resident_bytes;
	struct heap_reading split; /* zeros: none yet */
};

static void add_latest(struct heap_memory_sum *sum, const struct latest *latest)
{
	const struct heap_reading *split = &latest->split;
	double blocks = fmin(split->held.block_bytes, split->heap_bytes);
	double mapped = fmin(split->held.mapped_bytes, split->other_bytes);

	sum->resident_bytes += latest->resident_bytes;
	sum->heap_size_bytes += split->heap_size_bytes;
	sum->heap_bytes += split->heap_bytes;
	sum->stack_bytes += split->stack_bytes;
	sum->file_bytes += split->file_bytes;
	sum->own_bytes += split->own_bytes;
	sum->tracked_bytes += blocks + mapped;
	sum->untracked_bytes += split->heap_bytes - blocks + split->other_bytes - mapped;
	sum->fragmentation += split->heap_bytes - blocks; /* becomes a share in the end */
}

struct heap_memory_sum *heap_footprint_sums(const struct heap_footprint *footprint)
{
	size_t count = footprint->readings.count;
	struct heap_memory_sum *sums = calloc(count + 1, sizeof(*sums));
	SCOPED(mem) struct latest *latest = calloc(footprint->held.count + 1, sizeof(*latest));

	if (!sums || !latest) {
		free(sums);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		const struct heap_reading *reading = &footprint->readings.items[i];
		struct heap_memory_sum *sum = &sums[i];

		latest[reading->process].resident_bytes = reading->resident_bytes;
		if (reading->kind != MEMORY_SUM)
			latest[reading->process].split = *reading;
		sum->time_ns = reading->time_ns;
		sum->is_split = reading->kind != MEMORY_SUM;
		for (size_t k = 0; k < footprint->held.count; k++)
			add_latest(sum, &latest[k]);
		if (sum->heap_bytes > 0)
			sum->fragmentation /= sum->heap_bytes;
	}
	return sums;
}
