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

	*ret = (struct store_chunk){.fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wick_chunk",
							 sizeof(uint32_t), BPF_WALK_CHUNK_BYTES, 1,
							 &options)};
	return ret->fd < 0 ? ret->fd : 0;
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

int table_store_publish(struct table_store *store)
{
	struct bpf_map_batch_opts options = {.sz = sizeof(options)};
	uint32_t first = (uint32_t)store->published;
	uint32_t count = (uint32_t)store->chunks.count - first;
	uint32_t done = count;
	uint32_t keys[BPF_WALK_CHUNKS] = {0};
	uint32_t fds[BPF_WALK_CHUNKS] = {0};
	int r = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys[i] = first + i;
		fds[i] = (uint32_t)store->chunks.items[first + i].fd;
	}
	/* All at once, if the kernel can do that. */
	if (count > 0 && bpf_map_update_batch(store->chunks_fd, keys, fds, &done, &options) < 0)
		for (uint32_t i = 0; i < count && r == 0; i++)
			r = bpf_map_update_elem(store->chunks_fd, &keys[i], &fds[i], BPF_ANY);
	if (r == 0)
		store->published = store->chunks.count;
	return r;
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
			(void)close(chunk.fd);
			r = -ENOMEM;
		}
	}
	if (r < 0)
		drop_chunks_from(store, first);
	return r;
}

static void unmap_oldest(struct table_store *store)
{
	struct store_chunk *oldest = NULL;

	for (size_t i = 0; i < store->chunks.count; i++) {
		struct store_chunk *chunk = &store->chunks.items[i];

		if (chunk->words && (!oldest || chunk->used < oldest->used))
			oldest = chunk;
	}
	if (oldest)
		unmap_chunk(oldest);
	store->mapped--;
}

/* The words of a reserved chunk, to be written. The next call may unmap those of another. */
static uint64_t *open_chunk(struct table_store *store, uint64_t number)
{
	struct store_chunk *chunk = &store->chunks.items[number];

	chunk->used = ++store->uses;
	if (chunk->words)
		return chunk->words;
	while (store->mapped >= TABLE_STORE_MAPPED_CHUNKS)
		unmap_oldest(store);
	if (map_chunk(chunk) < 0)
		return NULL;
	store->mapped++;
	return chunk->words;
}

/* Writes words at a place that is reserved. */
static int put_words(struct table_store *store, uint64_t at, const uint64_t *words, uint64_t count)
{
	while (count > 0) {
		uint64_t offset = at & (BPF_WALK_CHUNK_WORDS - 1);
		uint64_t left = BPF_WALK_CHUNK_WORDS - offset;
		uint64_t n = count < left ? count : left;
		uint64_t *chunk = open_chunk(store, at >> BPF_WALK_CHUNK_SHIFT);

		if (!chunk)
			return -ENOMEM;
		memcpy(chunk + offset, words, n * sizeof(*words));
		words += n;
		at += n;
		count -= n;
	}
	return 0;
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

/* A table on its way into the store. */
struct builder {
	const struct unwind_table *table;
	const uint16_t *numbers; /* in the store, of the table's own rules */
	VEC(uint64_t) pages;
	VEC(uint8_t) rows;
	uint64_t first_byte; /* of the rows, in the store */
};

static uint16_t rule_of_row(const struct builder *builder, uint32_t row)
{
	uint16_t rule = builder->table->rows[row].rule;

	return rule < builder->table->rule_count ? builder->numbers[rule] : 0;
}

/* Skips what is left of a chunk if the rows of a page do not fit into it. */
static int align_rows(struct builder *builder, uint32_t count)
{
	uint64_t at = (builder->first_byte + builder->rows.count) & BPF_WALK_CHUNK_MASK;
	uint64_t left = BPF_WALK_CHUNK_MASK + 1 - at;
	uint64_t skipped = count * BPF_WALK_ROW_BYTES > left ? left : 0;

	if (vec_reserve(&builder->rows,
			builder->rows.count + skipped + count * BPF_WALK_ROW_BYTES) < 0)
		return -ENOMEM;
	if (skipped > 0)
		memset(builder->rows.items + builder->rows.count, 0, skipped);
	builder->rows.count += skipped;
	return 0;
}

/* Adds the page that begins with a rule and has the rows [first, end). */
static int add_page(struct builder *builder, uint16_t rule, uint32_t first, uint32_t end)
{
	uint32_t count = end - first;
	uint8_t *offsets;
	int r = align_rows(builder, count);

	if (r == 0)
		r = vec_push(&builder->pages,
			     bpf_page_word((uint32_t)(builder->first_byte + builder->rows.count),
					   rule, count));
	if (r < 0)
		return r;
	offsets = builder->rows.items + builder->rows.count;
	for (uint32_t i = 0; i < count; i++) {
		uint16_t number = rule_of_row(builder, first + i);

		offsets[i] = (uint8_t)builder->table->rows[first + i].pc;
		memcpy(offsets + count + (size_t)i * sizeof(number), &number, sizeof(number));
	}
	builder->rows.count += (size_t)count * BPF_WALK_ROW_BYTES;
	return 0;
}

static int add_pages(struct builder *builder, uint32_t count)
{
	const struct unwind_table *table = builder->table;
	uint16_t rule = 0; /* there is none before the first row */
	uint32_t row = 0;
	int r = 0;

	for (uint32_t page = 0; page < count && r == 0; page++) {
		uint64_t start = (uint64_t)page << BPF_WALK_PAGE_SHIFT;
		uint32_t end;

		if (row < table->row_count && table->rows[row].pc == start)
			rule = rule_of_row(builder, row++);
		end = row;
		while (end < table->row_count && table->rows[end].pc < start + BPF_WALK_PAGE_BYTES)
			end++;
		r = add_page(builder, rule, row, end);
		if (end > row)
			rule = rule_of_row(builder, end - 1);
		row = end;
	}
	return r;
}

static uint32_t page_count(const struct unwind_table *table)
{
	return (table->rows[table->row_count - 1].pc >> BPF_WALK_PAGE_SHIFT) + 1;
}

/* Writes a table behind what the store has. */
static int put_table(struct table_store *store, const struct unwind_table *table,
		     const uint16_t *numbers, struct stored_table *ret)
{
	struct builder builder = {.table = table, .numbers = numbers};
	uint64_t first = store->next;
	uint64_t row_words;
	int r;

	builder.first_byte = (first + ret->page_count) * sizeof(uint64_t);
	r = add_pages(&builder, ret->page_count);
	row_words = (builder.rows.count + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	if (r == 0) /* the last word is whole */
		r = vec_reserve(&builder.rows, row_words * sizeof(uint64_t));
	if (r == 0)
		r = table_store_reserve(store, ret->page_count + row_words);
	if (r == 0)
		r = put_words(store, first, builder.pages.items, ret->page_count);
	if (r == 0 && row_words > 0) { /* a table of pages with one rule each has no rows */
		memset(builder.rows.items + builder.rows.count, 0,
		       row_words * sizeof(uint64_t) - builder.rows.count);
		r = put_words(store, first + ret->page_count,
			      (const uint64_t *)(const void *)builder.rows.items, row_words);
	}
	if (r == 0) {
		ret->first_page = (uint32_t)first;
		store->next = first + ret->page_count + row_words;
	}
	vec_fini(&builder.pages);
	vec_fini(&builder.rows);
	return r;
}

int table_store_table(struct table_store *store, const struct unwind_table *table,
		      struct stored_table *ret)
{
	VEC(uint16_t) numbers = {0};
	int r = 0;

	*ret = (struct stored_table){.base = table->base};
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
		r = put_table(store, table, numbers.items, ret);
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

/* Reserves words in one chunk. */
static int allocate(struct table_store *store, uint64_t count, uint32_t *ret_first)
{
	uint64_t left = BPF_WALK_CHUNK_WORDS - store->next % BPF_WALK_CHUNK_WORDS;
	uint64_t skipped = count > left ? left : 0;
	int r = table_store_reserve(store, skipped + count);

	if (r < 0)
		return r;
	*ret_first = (uint32_t)(store->next + skipped);
	store->next += skipped + count;
	return 0;
}

int table_store_mappings(struct table_store *store, const struct bpf_walk_mapping *mappings,
			 uint32_t count, uint32_t *ret_first)
{
	size_t class = class_of(count);
	int r = 0;

	if (count > BPF_WALK_MAPPINGS)
		return -E2BIG;
	if (!reuse(store, class, ret_first))
		r = allocate(store, (uint64_t)BPF_WALK_MAPPING_WORDS << class, ret_first);
	for (uint32_t i = 0; i < count && r == 0; i++) {
		uint64_t words[BPF_WALK_MAPPING_WORDS];

		memcpy(words, &mappings[i], sizeof(words));
		r = put_words(store, *ret_first + (uint64_t)i * BPF_WALK_MAPPING_WORDS, words,
			      BPF_WALK_MAPPING_WORDS);
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
