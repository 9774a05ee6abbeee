/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/sites.h"

#include <errno.h>

#define FIRST_SLOTS 1024

void trace_sites_init(struct trace_sites *sites, struct trace_memory *memory)
{
	*sites = (struct trace_sites){
		.memory = memory,
		.words = {.item_bytes = sizeof(uint64_t)},
		.links = {.item_bytes = sizeof(struct trace_word_link)},
		.stacks = {.item_bytes = sizeof(struct trace_stack)},
		.sites = {.item_bytes = sizeof(struct trace_site)},
	};
}

static void index_free(struct trace_memory *memory, struct trace_index *index)
{
	if (index->slots)
		trace_memory_unmap(memory, index->slots,
				   ((size_t)index->mask + 1) * sizeof(*index->slots));
}

void trace_sites_free(struct trace_sites *sites)
{
	index_free(sites->memory, &sites->by_stack);
	index_free(sites->memory, &sites->by_site);
	trace_array_free(sites->memory, &sites->words);
	trace_array_free(sites->memory, &sites->links);
	trace_array_free(sites->memory, &sites->stacks);
	trace_array_free(sites->memory, &sites->sites);
	trace_sites_init(sites, sites->memory);
}

static void index_put(struct trace_index *index, uint64_t hash, uint32_t id)
{
	uint32_t i = (uint32_t)hash & index->mask;

	while (index->slots[i].id != 0)
		i = (i + 1) & index->mask;
	index->slots[i] = (struct trace_slot){(uint32_t)(hash >> 32), TRACE_NONE - id};
	index->count++;
}

static uint64_t words_sum(const uint64_t *words, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += trace_word_hash(words[i], TRACE_WORD_KEY * (i + 1));
	return sum;
}

static uint64_t stack_hash(const uint64_t *words, uint64_t counts)
{
	struct trace_key key = {counts, 0};

	return trace_walk_hash(&key, words_sum(words, trace_key_words(&key)));
}

static bool is_retired(const struct trace_sites *sites, const struct trace_index *index,
		       uint32_t id)
{
	return index == &sites->by_site ? trace_site(sites, id)->key.counts == 0
					: trace_stack(sites, id)->is_retired;
}

static uint64_t entry_hash(const struct trace_sites *sites, const struct trace_index *index,
			   uint32_t id)
{
	const struct trace_stack *stack;
	const struct trace_site *site;

	if (index == &sites->by_site) {
		site = trace_site(sites, id);
		return trace_walk_hash(&site->key, words_sum(trace_words(sites, site->first),
							     trace_key_words(&site->key)));
	}
	stack = trace_stack(sites, id);
	return stack_hash(trace_words(sites, stack->first), stack->counts);
}

/* Makes room for one more entry; what is retired is left out of the new table. */
static int index_reserve(struct trace_sites *sites, struct trace_index *index)
{
	struct trace_index next = {0};
	size_t capacity = index->slots ? (size_t)index->mask + 1 : 0;
	size_t grown = capacity > 0 ? capacity * 2 : FIRST_SLOTS;

	if (index->count < capacity / 4 * 3)
		return 0;
	next.slots = trace_memory_map(sites->memory, grown * sizeof(*next.slots));
	if (!next.slots)
		return index->count + 1 < capacity ? 0 : -ENOMEM;
	next.mask = (uint32_t)(grown - 1);
	for (size_t i = 0; i < capacity; i++) {
		uint32_t id = TRACE_NONE - index->slots[i].id;

		if (id != TRACE_NONE && !is_retired(sites, index, id))
			index_put(&next, entry_hash(sites, index, id), id);
	}
	index_free(sites->memory, index);
	*index = next;
	return 0;
}

static uint32_t find_stack(const struct trace_sites *sites, const struct trace_walk *walk,
			   uint64_t hash)
{
	const struct trace_index *index = &sites->by_stack;

	if (!index->slots)
		return TRACE_NONE;
	for (uint32_t i = (uint32_t)hash & index->mask;; i = (i + 1) & index->mask) {
		uint32_t id = TRACE_NONE - index->slots[i].id;
		const struct trace_stack *stack;

		if (id == TRACE_NONE)
			return TRACE_NONE;
		stack = trace_stack(sites, id);
		if (stack->counts == walk->key.counts && !stack->is_retired &&
		    trace_words_equal(trace_words(sites, stack->first), walk->words,
				      trace_key_words(&walk->key)))
			return id;
	}
}

static int add_stack(struct trace_sites *sites, const struct trace_walk *walk, uint64_t hash,
		     uint32_t *ret)
{
	uint32_t words = trace_key_words(&walk->key);
	size_t all = (size_t)sites->word_count + words;

	if (sites->stacks_max > 0 && sites->stack_count >= sites->stacks_max)
		return -ENOSPC;
	if (all >= UINT32_MAX || index_reserve(sites, &sites->by_stack) < 0 ||
	    trace_array_reserve(sites->memory, &sites->words, all) < 0 ||
	    trace_array_reserve(sites->memory, &sites->links, all) < 0 ||
	    trace_array_reserve(sites->memory, &sites->stacks, (size_t)sites->stack_count + 1) < 0)
		return -ENOMEM;
	*trace_stack(sites, sites->stack_count) = (struct trace_stack){
		.counts = walk->key.counts, .first = sites->word_count, .site = TRACE_NONE};
	memcpy(trace_words(sites, sites->word_count), walk->words, words * sizeof(*walk->words));
	sites->word_count += words;
	index_put(&sites->by_stack, hash, sites->stack_count);
	*ret = sites->stack_count++;
	return 0;
}

int trace_sites_add(struct trace_sites *sites, const struct trace_walk *walk, uint32_t *ret_site,
		    bool *ret_is_new)
{
	uint64_t hash = stack_hash(walk->words, walk->key.counts);
	uint32_t stack = find_stack(sites, walk, hash);
	bool is_new = stack == TRACE_NONE;
	uint32_t id = sites->site_count;

	if (index_reserve(sites, &sites->by_site) < 0 ||
	    trace_array_reserve(sites->memory, &sites->sites, (size_t)id + 1) < 0)
		return -ENOMEM;
	if (is_new) {
		int r = add_stack(sites, walk, hash, &stack);

		if (r < 0)
			return r;
	}
	*trace_site(sites, id) = (struct trace_site){.key = walk->key,
						     .counts = walk->key.counts,
						     .first = trace_stack(sites, stack)->first,
						     .stack = stack,
						     .next = trace_stack(sites, stack)->site};
	trace_stack(sites, stack)->site = id;
	index_put(&sites->by_site, walk->hash, id);
	sites->site_count++;
	*ret_site = id;
	*ret_is_new = is_new;
	return 0;
}

uint32_t trace_sites_stack_of(const struct trace_sites *sites, uint32_t word)
{
	uint32_t low = 0;
	uint32_t high = sites->stack_count;

	/* Stacks are in the order of their words; the last one that starts at or before it. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (trace_stack(sites, middle)->first <= word)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void trace_sites_retire(struct trace_sites *sites, uint32_t stack)
{
	trace_stack(sites, stack)->is_retired = true;
	for (uint32_t id = trace_stack(sites, stack)->site; id != TRACE_NONE;
	     id = trace_site(sites, id)->next)
		trace_site(sites, id)->key.counts = 0;
}
