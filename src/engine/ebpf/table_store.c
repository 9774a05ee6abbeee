/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/table_store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/hash_seed.h"
#include "unwind/table.h"

/* A program runs for microseconds; a virtual CPU may be paused in the middle of it. */
#define REUSE_NS (500 * NS_PER_MS)

int table_store_init(struct table_store *store, int chunks_fd, int rules_fd)
{
	static const struct unwind_rule none;

	*store = (struct table_store){.chunks_fd = chunks_fd, .rules_fd = rules_fd};
	/* Rule 0 means "no rule", which is what a new array contains. */
	return vec_push(&store->rules, none) < 0 ? -ENOMEM : 0;
}

static size_t chunk_map_bytes(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (BPF_WALK_CHUNK_BYTES + page - 1) / page * page;
}

static int map_chunk(struct store_chunk *chunk)
{
	void *words;

	if (chunk->words)
		return 0;
	words = mmap(NULL, chunk_map_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, chunk->fd, 0);
	if (words == MAP_FAILED)
		return -errno;
	chunk->words = words;
	return 0;
}

static void unmap_chunk(struct store_chunk *chunk)
{
	if (chunk->words)
		(void)munmap(chunk->words, chunk_map_bytes());
	chunk->words = NULL;
}

static int make_chunk(struct store_chunk *ret)
{
	struct bpf_map_create_opts options = {.sz = sizeof(options), .map_flags = BPF_F_MMAPABLE};
	int r;

	ret->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wick_chunk", sizeof(uint32_t),
				 BPF_WALK_CHUNK_BYTES, 1, &options);
	if (ret->fd < 0)
		return ret->fd;
	ret->words = NULL;
	r = map_chunk(ret);
	if (r < 0)
		(void)close(ret->fd);
	return r;
}

static void drop_chunks_from(struct table_store *store, size_t first)
{
	for (size_t i = first; i < store->chunks.count; i++) {
		unmap_chunk(&store->chunks.items[i]);
		(void)close(store->chunks.items[i].fd);
	}
	if (first < store->chunks.count)
		store->chunks.count = first;
}

void table_store_fini(struct table_store *store)
{
	drop_chunks_from(store, 0);
	vec_fini(&store->chunks);
	vec_fini(&store->rules);
	id_index_fini(&store->rule_index);
	for (size_t i = 0; i < STORE_CLASSES; i++)
		vec_fini(&store->free[i]);
}

/* Publishes the chunks from `first` on to the programs, all at once if the kernel can do that. */
static int show_chunks(struct table_store *store, uint32_t first)
{
	struct bpf_map_batch_opts options = {.sz = sizeof(options)};
	uint32_t count = (uint32_t)store->chunks.count - first;
	uint32_t done = count;
	uint32_t keys[BPF_WALK_CHUNKS] = {0};
	uint32_t fds[BPF_WALK_CHUNKS] = {0};
	int r;

	for (uint32_t i = 0; i < count; i++) {
		keys[i] = first + i;
		fds[i] = (uint32_t)store->chunks.items[first + i].fd;
	}
	r = bpf_map_update_batch(store->chunks_fd, keys, fds, &done, &options);
	if (r == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		r = bpf_map_update_elem(store->chunks_fd, &keys[i], &fds[i], BPF_ANY);
		if (r < 0)
			return r;
	}
	return 0;
}

int table_store_reserve(struct table_store *store, uint64_t words)
{
	size_t first = store->chunks.count;
	int r = 0;

	/*
	 * Checked before any is created: a table that does not fit must not use up the space that
	 * there is.
	 */
	if (words > (uint64_t)BPF_WALK_CHUNKS * BPF_WALK_CHUNK_WORDS - store->next)
		return -ENOSPC;
	while (r == 0 &&
	       store->next + words > store->chunks.count * (uint64_t)BPF_WALK_CHUNK_WORDS) {
		struct store_chunk chunk;

		r = make_chunk(&chunk);
		if (r == 0 && vec_push(&store->chunks, chunk) < 0) {
			unmap_chunk(&chunk);
			(void)close(chunk.fd);
			r = -ENOMEM;
		}
	}
	if (r == 0 && store->chunks.count > first)
		r = show_chunks(store, (uint32_t)first);
	if (r < 0)
		drop_chunks_from(store, first);
	return r;
}

/* Maps the chunks of words that will be written. */
static int open_words(struct table_store *store, uint64_t first, uint64_t count)
{
	int r = 0;

	for (uint64_t i = first >> BPF_WALK_CHUNK_SHIFT;
	     r == 0 && count > 0 && i <= (first + count - 1) >> BPF_WALK_CHUNK_SHIFT; i++) {
		store->chunks.items[i].used = store->rests;
		r = map_chunk(&store->chunks.items[i]);
	}
	return r;
}

void table_store_rest(struct table_store *store)
{
	size_t mapped = 0;

	for (size_t i = 0; i < store->chunks.count; i++)
		mapped += store->chunks.items[i].words != NULL;
	while (mapped > TABLE_STORE_MAPPED_CHUNKS) {
		struct store_chunk *oldest = NULL;

		for (size_t i = 0; i < store->chunks.count; i++) {
			struct store_chunk *chunk = &store->chunks.items[i];

			if (chunk->words && (!oldest || chunk->used < oldest->used))
				oldest = chunk;
		}
		if (oldest)
			unmap_chunk(oldest);
		mapped--;
	}
	store->rests++;
}

/* Reserves words; with `whole`, all in one chunk. */
static int allocate(struct table_store *store, uint64_t count, bool whole, uint32_t *ret_first)
{
	uint64_t left = BPF_WALK_CHUNK_WORDS - store->next % BPF_WALK_CHUNK_WORDS;
	int r;

	if (whole && count > left)
		store->next += left;
	r = table_store_reserve(store, count);
	if (r == 0)
		r = open_words(store, store->next, count);
	if (r < 0)
		return r;
	*ret_first = (uint32_t)store->next;
	store->next += count;
	return 0;
}

static void put_word(struct table_store *store, uint64_t at, uint64_t word)
{
	store->chunks.items[at >> BPF_WALK_CHUNK_SHIFT].words[at & (BPF_WALK_CHUNK_WORDS - 1)] =
		word;
}

/* The number of a rule in the shared dictionary; -ENOSPC if it is full. */
static int rule_number(struct table_store *store, const struct unwind_rule *rule)
{
	uint64_t hash = XXH3_64bits_withSeed(rule, sizeof(*rule), hash_seed.first);
	struct id_probe probe = id_index_probe(&store->rule_index, hash);
	uint32_t id;

	if (rule->cfa == UNWIND_CFA_NONE)
		return 0;
	while ((id = id_probe_next(&store->rule_index, &probe)) != ID_NONE)
		if (memcmp(&store->rules.items[id], rule, sizeof(*rule)) == 0)
			return (int)id;
	id = (uint32_t)store->rules.count;
	if (id == BPF_WALK_RULES || vec_push(&store->rules, *rule) < 0)
		return -ENOSPC;
	if (bpf_map_update_elem(store->rules_fd, &id, rule, BPF_ANY) < 0 ||
	    id_index_add(&store->rule_index, hash, id) < 0) {
		store->rules.count--;
		return -ENOSPC;
	}
	return (int)id;
}

/* The number of a row's rule in the store; numbers has those of the table's own. */
static uint16_t stored_rule(const struct unwind_table *table, const uint16_t *numbers, uint32_t row)
{
	uint16_t rule = table->rows[row].rule;

	return rule < table->rule_count ? numbers[rule] : 0;
}

static void put_rows(struct table_store *store, const struct unwind_table *table, uint32_t first,
		     const uint16_t *numbers)
{
	for (uint32_t i = 0; i < table->row_count; i++) {
		struct unwind_row row = table->rows[i];
		uint64_t word;

		row.rule = stored_rule(table, numbers, i);
		memcpy(&word, &row, sizeof(word));
		put_word(store, (uint64_t)first + i, word);
	}
}

/*
 * For each page: its rule, if it has only one; else the row at its start and the first row after
 * its end.
 */
static void put_pages(struct table_store *store, const struct unwind_table *table,
		      const uint16_t *numbers, uint32_t first, uint32_t count)
{
	uint32_t row = 0;

	for (uint32_t page = 0; page < count; page++) {
		uint64_t start = (uint64_t)page << BPF_WALK_PAGE_SHIFT;
		uint64_t end = start + (1u << BPF_WALK_PAGE_SHIFT);
		uint32_t after;

		while (row + 1 < table->row_count && table->rows[row + 1].pc <= start)
			row++;
		after = row;
		while (after < table->row_count && table->rows[after].pc < end)
			after++;
		if (after == row + 1 && table->rows[row].pc <= start)
			put_word(store, (uint64_t)first + page,
				 stored_rule(table, numbers, row) | BPF_WALK_ONE_RULE);
		else
			put_word(store, (uint64_t)first + page, row | (uint64_t)after << 32);
	}
}

static uint32_t page_count(const struct unwind_table *table)
{
	return (table->rows[table->row_count - 1].pc >> BPF_WALK_PAGE_SHIFT) + 1;
}

uint64_t table_store_table_words(const struct unwind_table *table)
{
	return table->row_count == 0 ? 0 : (uint64_t)table->row_count + page_count(table);
}

int table_store_table(struct table_store *store, const struct unwind_table *table,
		      struct stored_table *ret)
{
	VEC(uint16_t) numbers = {0};
	int r = 0;

	*ret = (struct stored_table){.row_count = table->row_count, .base = table->base};
	if (table->row_count == 0)
		return 0;
	ret->page_count = page_count(table);
	if (vec_reserve(&numbers, table->rule_count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->rule_count && r == 0; i++) {
		int number = rule_number(store, &table->rules[i]);

		if (number < 0)
			r = number;
		else
			numbers.items[i] = (uint16_t)number;
	}
	if (r == 0)
		r = allocate(store, table->row_count, false, &ret->first_row);
	if (r == 0)
		r = allocate(store, ret->page_count, false, &ret->first_page);
	if (r == 0) {
		put_rows(store, table, ret->first_row, numbers.items);
		put_pages(store, table, numbers.items, ret->first_page, ret->page_count);
	}
	vec_fini(&numbers);
	return r;
}

static size_t class_of(uint32_t count)
{
	size_t class = 0;

	while (1u << class < count)
		class ++;
	return class;
}

/* Space that was freed long enough ago. */
static bool reuse(struct table_store *store, size_t class, uint32_t *ret_first)
{
	if (store->free[class].count == 0 ||
	    clock_monotonic_ns() - store->free[class].items[0].since_ns < REUSE_NS)
		return false;
	*ret_first = store->free[class].items[0].first;
	store->free[class].count--;
	memmove(store->free[class].items, store->free[class].items + 1,
		store->free[class].count * sizeof(struct store_free));
	return true;
}

int table_store_mappings(struct table_store *store, const struct bpf_walk_mapping *mappings,
			 uint32_t count, uint32_t *ret_first)
{
	size_t class = class_of(count);
	int r = 0;

	if (count > BPF_WALK_MAPPINGS)
		return -E2BIG;
	if (reuse(store, class, ret_first))
		r = open_words(store, *ret_first, (uint64_t)BPF_WALK_MAPPING_WORDS << class);
	else
		r = allocate(store, (uint64_t)BPF_WALK_MAPPING_WORDS << class, true, ret_first);
	for (uint32_t i = 0; i < count && r == 0; i++) {
		uint64_t words[BPF_WALK_MAPPING_WORDS];

		memcpy(words, &mappings[i], sizeof(words));
		for (uint32_t j = 0; j < BPF_WALK_MAPPING_WORDS; j++)
			put_word(store, *ret_first + (uint64_t)i * BPF_WALK_MAPPING_WORDS + j,
				 words[j]);
	}
	return r;
}

void table_store_release_mappings(struct table_store *store, uint32_t first, uint32_t count)
{
	struct store_free room = {.first = first, .since_ns = clock_monotonic_ns()};

	(void)vec_push(&store->free[class_of(count)], room); /* stays unused then */
}

uint64_t table_store_bytes(const struct table_store *store)
{
	return store->chunks.count * (uint64_t)BPF_WALK_CHUNK_BYTES +
	       BPF_WALK_RULES * sizeof(struct unwind_rule);
}
