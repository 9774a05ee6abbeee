/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/sites.h"

#include <errno.h>

#define FIRST_SLOTS 1024

void trace_sites_init(struct trace_sites *sites, struct trace_memory *memory)
{
	*sites = (struct trace_sites){
		.memory = memory,
		.stacks = {.item_bytes = sizeof(struct trace_stack)},
		.sites = {.item_bytes = sizeof(struct trace_site)},
	};
	trace_tree_init(&sites->tree, memory);
}

static size_t index_bytes(const struct trace_index *index)
{
	return index->slots ? ((size_t)index->mask + 1) * sizeof(*index->slots) : 0;
}

static void index_free(struct trace_memory *memory, struct trace_index *index)
{
	trace_memory_unmap(memory, index->slots, index_bytes(index));
	*index = (struct trace_index){0};
}

void trace_sites_free(struct trace_sites *sites)
{
	trace_id_set_free(&sites->by_node, sites->memory);
	index_free(sites->memory, &sites->by_site);
	trace_array_free(sites->memory, &sites->stacks);
	trace_array_free(sites->memory, &sites->sites);
	trace_tree_free(&sites->tree);
	trace_sites_init(sites, sites->memory);
}

void trace_sites_clear(struct trace_sites *sites)
{
	trace_id_set_free(&sites->by_node, sites->memory);
	index_free(sites->memory, &sites->by_site);
	trace_array_shrink(sites->memory, &sites->stacks);
	trace_array_shrink(sites->memory, &sites->sites);
	trace_tree_clear(&sites->tree);
	/* Lookups do not find the first site any more, but it can be used by its id. */
	sites->stack_count = sites->stack_count > 0;
	sites->site_count = sites->site_count > 0;
}

uint64_t trace_sites_bytes(const struct trace_sites *sites)
{
	return trace_tree_bytes(&sites->tree) + sites->stack_count * sizeof(struct trace_stack) +
	       sites->site_count * sizeof(struct trace_site) + index_bytes(&sites->by_site) +
	       trace_id_set_bytes(&sites->by_node);
}

static void index_put(struct trace_index *index, uint64_t hash, uint32_t id)
{
	uint32_t i = (uint32_t)hash & index->mask;

	while (index->slots[i].id != 0)
		i = (i + 1) & index->mask;
	index->slots[i] = (struct trace_slot){(uint32_t)(hash >> 32), TRACE_NONE - id};
	index->count++;
}

/* Computes the hash of a site's walk. Returns false if one of its frames has ended. */
static bool site_hash(const struct trace_sites *sites, uint32_t id, uint64_t *ret)
{
	const struct trace_site *site = trace_site(sites, id);
	const struct trace_key key = {trace_stack(sites, site->stack)->counts, site->owner};
	uint32_t node = site->node;
	uint64_t position = 0;
	uint64_t sum = 0;

	for (; node != 0; node = trace_node(&sites->tree, node)->parent) {
		uint64_t word = *trace_word(&sites->tree, trace_node(&sites->tree, node)->frame);

		if (word == 0)
			return false;
		position += TRACE_WORD_KEY;
		sum += trace_word_hash(word, position);
	}
	*ret = trace_walk_hash(&key, sum);
	return true;
}

/* Makes room for one more site; those that lookups cannot find are left out of the new table. */
static int reserve_in_index(struct trace_sites *sites)
{
	struct trace_index *index = &sites->by_site;
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
		uint64_t hash;

		if (id != TRACE_NONE && site_hash(sites, id, &hash))
			index_put(&next, hash, id);
	}
	index_free(sites->memory, index);
	*index = next;
	return 0;
}

static uint64_t stack_hash(uint32_t node, uint64_t counts)
{
	uint64_t hash = (counts ^ (uint64_t)node << 20) * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 32;
}

static uint64_t hash_of_stack(const void *things, uint32_t id)
{
	const struct trace_stack *stack = trace_stack(things, id - 1);

	return stack_hash(stack->node, stack->counts);
}

/* A stack is found by its node, which is new if the stack has a frame that has ended. */
static bool is_stack_needed(const void *things, uint32_t id)
{
	(void)things;
	(void)id;
	return true;
}

static uint32_t find_stack(const struct trace_sites *sites, uint32_t node, uint64_t counts)
{
	const struct trace_id_set *set = &sites->by_node;
	uint32_t id;

	if (!set->slots)
		return TRACE_NONE;
	for (uint32_t i = trace_id_set_first(set, stack_hash(node, counts));
	     (id = set->slots[i]) != 0; i = trace_id_set_next(set, i)) {
		const struct trace_stack *stack = trace_stack(sites, id - 1);

		if (stack->node == node && stack->counts == counts)
			return id - 1;
	}
	return TRACE_NONE;
}

static int add_stack(struct trace_sites *sites, uint32_t node, uint64_t counts, uint32_t *ret)
{
	const struct trace_id_set_owner owner = {sites, hash_of_stack, is_stack_needed};
	uint32_t id = sites->stack_count;

	if (trace_id_set_reserve(&sites->by_node, sites->memory, &owner) < 0 ||
	    trace_array_reserve(sites->memory, &sites->stacks, (size_t)id + 1) < 0)
		return -ENOMEM;
	*trace_stack(sites, id) = (struct trace_stack){.counts = counts, .node = node};
	trace_id_set_put(&sites->by_node, stack_hash(node, counts), id + 1);
	sites->stack_count++;
	*ret = id;
	return 0;
}

/* Adds the stack of a walk. New frames end if it fails: nobody will fill them in. */
static int add_walk(struct trace_sites *sites, const struct trace_walk *walk, uint32_t *ret)
{
	uint32_t frames = sites->tree.frame_count;
	uint32_t node;
	int r;

	if (sites->stacks_max > 0 && sites->stack_count >= sites->stacks_max)
		return -ENOSPC;
	r = trace_tree_add(&sites->tree, walk->words, trace_key_words(&walk->key),
			   trace_key_native(&walk->key), &node);
	if (r == 0)
		r = add_stack(sites, node, walk->key.counts, ret);
	for (; r < 0 && frames < sites->tree.frame_count; frames++)
		trace_frame_end(&sites->tree, frames);
	return r;
}

static uint32_t find_walk(const struct trace_sites *sites, const struct trace_walk *walk)
{
	uint32_t node = trace_tree_find(&sites->tree, walk->words, trace_key_words(&walk->key),
					trace_key_native(&walk->key));

	return node == TRACE_NO_NODE ? TRACE_NONE : find_stack(sites, node, walk->key.counts);
}

int trace_sites_add(struct trace_sites *sites, const struct trace_walk *walk, uint32_t *ret_site,
		    bool *ret_is_new)
{
	uint32_t id = sites->site_count;
	uint32_t stack = find_walk(sites, walk);
	bool is_new = stack == TRACE_NONE;

	if (reserve_in_index(sites) < 0 ||
	    trace_array_reserve(sites->memory, &sites->sites, (size_t)id + 1) < 0)
		return -ENOMEM;
	if (is_new) {
		int r = add_walk(sites, walk, &stack);

		if (r < 0)
			return r;
	}
	*trace_site(sites, id) = (struct trace_site){
		.owner = walk->key.owner, .node = trace_stack(sites, stack)->node, .stack = stack};
	index_put(&sites->by_site, walk->hash, id);
	sites->site_count++;
	*ret_site = id;
	*ret_is_new = is_new;
	return 0;
}
