/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_LOOKUP_H
#define WICK_BPF_LOOKUP_H

/*
 * lookup: the rule of a pc, from this CPU's cache, or from the mappings of the address space and
 * then the pages and the rows of a table.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/scratch.h"
#include "unwind/table.h"
#include "wire/bpf_walk.h"

#define MAPPING_STEPS 13 /* halvings of BPF_WALK_MAPPINGS */
#define ROW_GROUPS 32u   /* of eight: the rows of a page */

static __always_inline const struct chunk *store_chunk(uint32_t chunk)
{
	uint32_t zero = 0;
	void *map = bpf_map_lookup_elem(&store, &chunk);

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

static __always_inline const uint64_t *store_word(uint32_t word)
{
	const struct chunk *chunk = store_chunk(word >> BPF_WALK_CHUNK_SHIFT);

	return chunk ? &chunk->words[word & (BPF_WALK_CHUNK_WORDS - 1)] : NULL;
}

/*
 * A search among sorted words of the store. It uses the kernel's loops: the verifier would follow
 * every path through one of ours.
 */
struct search {
	uint64_t what; /* a pc, or its offset */
	uint32_t first;
	uint32_t low;
	uint32_t high;
};

static long halve_mappings(uint32_t index, void *context)
{
	struct search *search = context;
	uint32_t middle = (search->low + search->high) / 2;
	const struct bpf_walk_mapping *mapping;

	(void)index;
	if (search->low >= search->high)
		return 1;
	mapping = (const struct bpf_walk_mapping *)store_word(search->first +
							      middle * BPF_WALK_MAPPING_WORDS);
	if (!mapping)
		return 1;
	if (search->what < mapping->start)
		search->high = middle;
	else
		search->low = middle + 1;
	return 0;
}

/* The mapping that contains a pc, or NULL. */
static __always_inline const struct bpf_walk_mapping *find_mapping(const struct walk *walk,
								   uint64_t pc)
{
	struct search search = {.what = pc, .first = walk->space.first, .high = walk->space.count};
	const struct bpf_walk_mapping *mapping;

	bpf_loop(MAPPING_STEPS, halve_mappings, &search, 0);
	if (search.low == 0)
		return NULL;
	mapping = (const struct bpf_walk_mapping *)store_word(
		search.first + (search.low - 1) * BPF_WALK_MAPPING_WORDS);
	return mapping && pc < mapping->end ? mapping : NULL;
}

/* Finds a mapping and replaces the oldest of the recent ones with it. */
static __noinline const struct bpf_walk_mapping *learn_mapping(struct scratch *scratch, uint64_t pc)
{
	struct walk *walk = &scratch->walk;
	const struct bpf_walk_mapping *mapping = find_mapping(walk, pc);
	struct recent *recent = &scratch->recent[walk->oldest % RECENT];

	if (!mapping)
		return NULL;
	walk->oldest++;
	recent->mapping = *mapping;
	recent->generation = walk->space.generation;
	return &recent->mapping;
}

/* The mapping of a pc, or NULL. */
static __always_inline const struct bpf_walk_mapping *get_mapping(struct scratch *scratch,
								  uint64_t pc)
{
	struct recent *recent = scratch->recent;

#pragma unroll
	for (uint32_t i = 0; i < RECENT; i++)
		if (pc - recent[i].mapping.start <
			    recent[i].mapping.end - recent[i].mapping.start &&
		    recent[i].generation == scratch->walk.space.generation)
			return &recent[i].mapping;
	return learn_mapping(scratch, pc);
}

/* A search among the rows of a page: how many of them begin at an offset or before it. */
struct row_search {
	uint32_t at; /* byte of the store */
	uint32_t offset;
	uint32_t count;
	uint32_t found;
};

/* Counts among eight rows. Neither CPU needs the word to be aligned. */
static long count_rows(uint32_t index, void *context)
{
	struct row_search *search = context;
	const struct chunk *chunk = store_chunk(search->at >> (BPF_WALK_CHUNK_SHIFT + 3));
	uint32_t at = (search->at + index * 8) & BPF_WALK_CHUNK_MASK;
	uint32_t found;

	if (!chunk || index * 8 >= search->count)
		return 1;
	found = bpf_bytes_at_most(*(const uint64_t *)((const uint8_t *)chunk + at),
				  search->count - index * 8, search->offset);
	search->found += found;
	return found < 8;
}

/* The rule for an offset according to the table; 0: none. */
static __always_inline uint32_t find_rule(const struct bpf_walk_mapping *mapping, uint64_t offset)
{
	struct row_search search = {.offset = (uint32_t)offset & (BPF_WALK_PAGE_BYTES - 1)};
	uint32_t number = (uint32_t)(offset >> BPF_WALK_PAGE_SHIFT);
	const struct chunk *chunk;
	const uint64_t *page;
	uint64_t word;
	uint32_t at;

	/* The last row applies up to the end of the mapping. */
	if (number >= mapping->page_count) {
		number = mapping->page_count - 1;
		search.offset = BPF_WALK_PAGE_BYTES - 1;
	}
	page = store_word(mapping->first_page + number);
	if (!page)
		return 0;
	word = *page;
	search.at = bpf_page_rows(word);
	search.count = bpf_page_count(word);
	if (search.count > 0)
		count_rows(0, &search);
	if (search.found == 8 && search.count > 8) {
		search.found = 0;
		bpf_loop(ROW_GROUPS, count_rows, &search, 0);
	}
	if (search.found == 0)
		return bpf_page_rule(word);
	chunk = store_chunk(search.at >> (BPF_WALK_CHUNK_SHIFT + 3));
	at = (search.at + search.count + (search.found - 1) * 2) & BPF_WALK_CHUNK_MASK;
	return chunk ? *(const uint16_t *)((const uint8_t *)chunk + at) : 0;
}

/* Finds the rule of a pc and caches it. Returns 0 if something is not loaded yet. */
GLOBAL int look_up(struct scratch *scratch, uint64_t pc, uint32_t at)
{
	struct remembered *place;
	const struct bpf_walk_mapping *mapping;
	const struct unwind_rule *rule;
	uint32_t number = 0;
	uint64_t offset;

	if (!scratch)
		return 0;
	place = &scratch->remembered[at & (REMEMBERED - 1)];
	mapping = get_mapping(scratch, pc);
	scratch->walk.outside = !mapping;
	if (!mapping || mapping->unknown)
		return 0;
	offset = pc - mapping->base;
	if (mapping->page_count > 0 && offset <= UINT32_MAX)
		number = find_rule(mapping, offset);
	rule = bpf_map_lookup_elem(&rules, &number);
	if (!rule)
		return 0;
	place->pc = pc;
	place->generation = scratch->walk.space.generation;
	place->rule = *rule;
	return 1;
}

/* Makes the rule of a pc the current one. Returns false if something is not loaded yet. */
static __always_inline bool find_frame_rule(struct scratch *scratch, uint64_t pc)
{
	uint32_t at = (uint32_t)(pc ^ pc >> 12) & (REMEMBERED - 1);
	struct remembered *place = &scratch->remembered[at];

	scratch->walk.place = at;
	return (place->pc == pc && place->generation == scratch->walk.space.generation) ||
	       look_up(scratch, pc, at);
}

#endif
