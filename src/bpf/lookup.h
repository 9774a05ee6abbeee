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
#define ROW_STEPS 9      /* halvings of the rows in a page of code, at most one a byte */

static __always_inline const uint64_t *store_word(uint32_t word)
{
	uint32_t chunk = word >> BPF_WALK_CHUNK_SHIFT;
	uint32_t zero = 0;
	void *map = bpf_map_lookup_elem(&store, &chunk);
	struct chunk *found;

	if (!map)
		return NULL;
	found = bpf_map_lookup_elem(map, &zero);
	return found ? &found->words[word & (BPF_WALK_CHUNK_WORDS - 1)] : NULL;
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

static long halve_rows(uint32_t index, void *context)
{
	struct search *search = context;
	uint32_t middle = (search->low + search->high) / 2;
	const struct unwind_row *row;

	(void)index;
	if (search->high - search->low <= 1)
		return 1;
	row = (const struct unwind_row *)store_word(search->first + middle);
	if (!row)
		return 1;
	if (row->pc <= search->what)
		search->low = middle;
	else
		search->high = middle;
	return 0;
}

/* The rule for an offset according to the rows; 0: none. */
static __always_inline uint32_t find_rule(const struct bpf_walk_mapping *mapping, uint64_t offset)
{
	struct search search = {.what = offset, .first = mapping->first_row};
	uint32_t number = (uint32_t)(offset >> BPF_WALK_PAGE_SHIFT);
	const struct unwind_row *row;
	const uint64_t *page;

	/* The last row applies up to the end of the mapping. */
	if (number >= mapping->page_count)
		number = mapping->page_count - 1;
	page = store_word(mapping->first_page + number);
	if (!page)
		return 0;
	if (*page & BPF_WALK_ONE_RULE)
		return (uint16_t)*page;
	search.low = (uint32_t)*page;          /* the row that applies at the start of the page */
	search.high = (uint32_t)(*page >> 32); /* the first that begins after its end */
	bpf_loop(ROW_STEPS, halve_rows, &search, 0);
	row = (const struct unwind_row *)store_word(search.first + search.low);
	return row && row->pc <= offset ? row->rule : 0;
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
	offset = pc - mapping->row_base;
	if (mapping->row_count > 0 && offset <= UINT32_MAX)
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
