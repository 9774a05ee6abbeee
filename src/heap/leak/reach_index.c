/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/reach_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Blocks further apart than this do not share a span. */
#define SPAN_GAP_BYTES (256u << 10)
/* A large page. */
#define PAGE_BYTES (2u << 20)

/* The end of the addresses that belong to a block. */
static uint64_t extent_end(const struct reach_block *blocks, size_t count, size_t i)
{
	uint64_t end = reach_block_end(&blocks[i]);
	bool has_next = i + 1 < count && blocks[i + 1].address == end;

	return blocks[i].size_bytes == REACH_COUNT_BYTES && !has_next ? end + 1 : end;
}

/* The end of the adjacent blocks that start with `first`. */
static size_t span_end(const struct reach_block *blocks, size_t count, size_t first)
{
	size_t i = first + 1;

	while (i < count && blocks[i].address - reach_block_end(&blocks[i - 1]) < SPAN_GAP_BYTES)
		i++;
	return i;
}

static int add_span(struct reach_index *index, const struct reach_block *blocks, size_t first,
		    size_t end)
{
	struct reach_span span = {.start = blocks[first].address,
				  .end = index->extents[end - 1].end,
				  .pieces = index->pieces.count};
	uint64_t most = 2 * (uint64_t)(end - first) + 1;
	size_t at = first;

	while (((span.end - span.start) >> span.shift) > most)
		span.shift++;
	for (uint64_t piece = 0; piece <= (span.end - span.start) >> span.shift; piece++) {
		uint64_t begin = span.start + (piece << span.shift);

		while (at < end && blocks[at].address < begin)
			at++;
		if (vec_push(&index->pieces, (uint32_t)at) < 0)
			return -ENOMEM;
	}
	if (vec_push(&index->pieces, (uint32_t)end) < 0)
		return -ENOMEM;
	return vec_push(&index->spans, span);
}

/* Accessed at random: with small pages each lookup would also miss the TLB. */
static struct reach_extent *make_extents(size_t count)
{
	size_t bytes = (count * sizeof(struct reach_extent) / PAGE_BYTES + 1) * PAGE_BYTES;
	struct reach_extent *extents = aligned_alloc(PAGE_BYTES, bytes);

	if (extents && bytes > PAGE_BYTES)
		(void)madvise(extents, bytes, MADV_HUGEPAGE); /* only a hint */
	return extents;
}

int reach_index_init(struct reach_index *index, const struct reach_block *blocks, size_t count)
{
	size_t first = 0;

	*index = (struct reach_index){.extents = make_extents(count)};
	if (!index->extents)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		index->extents[i] =
			(struct reach_extent){blocks[i].address, extent_end(blocks, count, i)};
	while (first < count) {
		size_t end = span_end(blocks, count, first);

		if (add_span(index, blocks, first, end) < 0)
			return -ENOMEM;
		first = end;
	}
	return 0;
}

void reach_index_fini(struct reach_index *index)
{
	free(index->extents);
	vec_fini(&index->spans);
	vec_fini(&index->pieces);
}

static bool is_in(const struct reach_span *span, uint64_t address)
{
	return address >= span->start && address < span->end;
}

/* The span that contains the address; NULL: none. */
static const struct reach_span *find_span(struct reach_index *index, uint64_t address)
{
	const struct reach_span *spans = index->spans.items;
	size_t low = 0;
	size_t high = index->spans.count;

	if (high == 0 || address < spans[0].start || address >= spans[high - 1].end)
		return NULL;
	if (is_in(&spans[index->last], address))
		return &spans[index->last];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	if (!is_in(&spans[low], address))
		return NULL;
	index->last = low;
	return &spans[low];
}

const uint32_t *reach_index_piece(struct reach_index *index, uint64_t address)
{
	const struct reach_span *span = find_span(index, address);

	return span ? &index->pieces.items[span->pieces + ((address - span->start) >> span->shift)]
		    : NULL;
}

uint32_t reach_index_answer(const struct reach_index *index, const uint32_t *piece,
			    uint64_t address)
{
	uint32_t at = piece[1];

	/* The last block that begins at or before the address: of this piece, or of one before. */
	while (at > piece[0] && index->extents[at - 1].start > address)
		at--;
	/* A span starts with a block, so there is one before. */
	return at > 0 && address < index->extents[at - 1].end ? at - 1 : REACH_NOWHERE;
}

uint32_t reach_index_find(struct reach_index *index, uint64_t address)
{
	const uint32_t *piece = reach_index_piece(index, address);

	return piece ? reach_index_answer(index, piece, address) : REACH_NOWHERE;
}
