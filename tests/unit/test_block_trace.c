/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/blocks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "block_trace/events.h"
#include "block_trace/memory.h"
#include "block_trace/sites.h"
#include "block_trace/tracked.h"

#define ADDRESSES 5000

/* Sizes as an allocator gives them: blocks of one size in a page, or of different ones. */
static uint64_t size_at(size_t i)
{
	return i < ADDRESSES / 2 ? 64 : 1 + i * 37 % 64;
}

/* Adds and removes at random; an array says what must be there. */
static void blocks_are_found_until_they_are_removed(void **state)
{
	static uint32_t truth[ADDRESSES];
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block block;
	size_t live = 0;

	(void)state;
	srand(7);
	trace_blocks_init(&blocks, &memory);
	for (uint32_t step = 1; step < 300000; step++) {
		size_t i = (size_t)rand() % ADDRESSES;
		uint64_t address = 0x7f0000000030ull + i * 64;
		bool is_known = trace_blocks_get(&blocks, address, &block);

		assert_int_equal(is_known, truth[i] != 0);
		if (!is_known) {
			assert_false(trace_blocks_take(&blocks, address, &block));
			block = (struct trace_block){address, size_at(i), step};
			assert_int_equal(trace_blocks_put(&blocks, &block, &block), 0);
			truth[i] = step;
			live++;
			continue;
		}
		assert_true(trace_blocks_take(&blocks, address, &block));
		assert_int_equal(block.size, size_at(i));
		assert_int_equal(block.site, truth[i]);
		truth[i] = 0;
		live--;
	}
	assert_int_equal(blocks.count, live);
	trace_blocks_clear(&blocks);
	assert_int_equal(memory.bytes, 0);
}

static void all_blocks_are_walked_over_once(void **state)
{
	static bool is_seen[ADDRESSES];
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block block;
	uint64_t cursor = 0;
	size_t seen = 0;

	(void)state;
	trace_blocks_init(&blocks, &memory);
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		/* Every tenth is not aligned, every eleventh is larger than a slot can hold. */
		block = (struct trace_block){(uint64_t)1 << 32 | (uint64_t)i << 14 |
						     (i % 10 ? 0 : 8),
					     i % 11 ? i : (uint64_t)i << 33, i};
		assert_int_equal(trace_blocks_put(&blocks, &block, &block), 0);
	}
	while (trace_blocks_next(&blocks, &cursor, &block)) {
		assert_false(is_seen[block.site]);
		assert_int_equal(block.address >> 14 & 0x3ffff, block.site);
		assert_int_equal(block.size,
				 block.site % 11 ? block.site : (uint64_t)block.site << 33);
		is_seen[block.site] = true;
		seen++;
	}
	assert_int_equal(seen, ADDRESSES);
	assert_int_equal(blocks.count, ADDRESSES);
	trace_blocks_clear(&blocks);
}

static void a_block_whose_end_was_not_seen_is_replaced(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block old;

	(void)state;
	trace_blocks_init(&blocks, &memory);
	assert_int_equal(trace_blocks_put(&blocks, &(struct trace_block){65536, 10, 3}, &old), 0);
	assert_int_equal(trace_blocks_put(&blocks, &(struct trace_block){65536, 90, 4}, &old), 1);
	assert_int_equal(old.size, 10);
	assert_int_equal(old.site, 3);
	assert_int_equal(blocks.count, 1);
	trace_blocks_clear(&blocks);
}

/* A small block before a large one would share its slot: it is not taken for it. */
static void the_free_of_an_unknown_neighbour_removes_nothing(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block block = {65536 + 64, 512, 3};

	(void)state;
	trace_blocks_init(&blocks, &memory);
	assert_int_equal(trace_blocks_put(&blocks, &block, &block), 0);
	for (uint64_t address = 65536; address < 65536 + 4096; address += 16)
		if (address != 65536 + 64)
			assert_false(trace_blocks_take(&blocks, address, &block));
	assert_true(trace_blocks_take(&blocks, 65536 + 64, &block));
	trace_blocks_clear(&blocks);
}

static void pages_without_blocks_are_dropped_when_the_directory_is_full(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block block;

	(void)state;
	trace_blocks_init(&blocks, &memory);
	for (uint64_t i = 1; i < 1000000; i++) {
		block = (struct trace_block){i << 12, 4096, 1};
		assert_int_equal(trace_blocks_put(&blocks, &block, &block), 0);
		assert_true(trace_blocks_take(&blocks, i << 12, &block));
	}
	assert_true(memory.bytes < 1 << 20);
	trace_blocks_clear(&blocks);
}

static void without_memory_new_pages_are_refused_and_old_ones_stay(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks;
	struct trace_block block = {4096, 16, 1};
	uint64_t page = 1;

	(void)state;
	trace_blocks_init(&blocks, &memory);
	assert_int_equal(trace_blocks_put(&blocks, &block, &block), 0);
	do {
		memory.fails_at = memory.requests + 1;
		block = (struct trace_block){++page << 12, 16, 1};
	} while (trace_blocks_put(&blocks, &block, &block) == 0);
	for (uint64_t i = 1; i < page; i++)
		assert_true(trace_blocks_get(&blocks, i << 12, &block));
	trace_blocks_clear(&blocks);
}

static struct trace_walk make_walk(const uint64_t *words, uint32_t calls, uint32_t thread)
{
	struct trace_walk walk = {.words = words, .key = trace_key(calls, 0, calls, 0)};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < calls; i++)
		sum += trace_word_hash(words[i], TRACE_WORD_KEY * (i + 1));
	walk.key.owner = trace_owner(0, thread);
	walk.hash = trace_walk_hash(&walk.key, sum);
	return walk;
}

static void equal_stacks_have_one_id_and_threads_have_sites_of_their_own(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	bool is_new;

	(void)state;
	trace_sites_init(&sites, &memory);
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 3000; i++)
			for (uint32_t thread = 1; thread <= 2; thread++) {
				uint64_t words[3] = {i + 1, i / 7 + 1, 42};
				struct trace_walk walk = make_walk(words, 3, thread);
				uint32_t id = trace_sites_find(&sites, &walk);

				assert_int_equal(id == TRACE_NONE, round == 0);
				if (round == 0)
					assert_int_equal(
						trace_sites_add(&sites, &walk, &id, &is_new), 0);
				assert_int_equal(id, 2 * i + thread - 1);
				assert_int_equal(trace_site(&sites, id)->stack, i);
			}
	assert_int_equal(sites.stack_count, 3000);
	trace_sites_free(&sites);
	assert_int_equal(memory.bytes, 0);
}

static void stacks_with_a_frame_that_has_ended_keep_their_ids_and_are_not_found(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	uint64_t words[2] = {10, 20};
	struct trace_walk walk = make_walk(words, 2, 1);
	uint32_t old;
	uint32_t id;
	bool is_new;

	(void)state;
	trace_sites_init(&sites, &memory);
	assert_int_equal(trace_sites_add(&sites, &walk, &old, &is_new), 0);
	trace_frame_end(&sites.tree, 1); /* the outermost one: 20 */
	assert_int_equal(trace_sites_find(&sites, &walk), TRACE_NONE);
	assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), 0);
	assert_true(is_new);
	assert_int_not_equal(id, old);
	assert_int_equal(trace_sites_find(&sites, &walk), id);
	assert_int_equal(trace_frame(&sites.tree, 1)->word, 20);
	assert_int_not_equal(trace_site(&sites, id)->stack, trace_site(&sites, old)->stack);
	trace_sites_free(&sites);
}

/* 2,000 stacks of 100 words: the same callers, and 2,000 different innermost frames. */
static void stacks_share_the_frames_of_their_callers(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	uint64_t words[100];
	uint32_t id;
	bool is_new;

	(void)state;
	trace_sites_init(&sites, &memory);
	for (uint32_t i = 1; i < 100; i++)
		words[i] = 1000000 + i % 10;
	for (words[0] = 1; words[0] <= 2000; words[0]++) {
		struct trace_walk walk = make_walk(words, 100, 1);

		assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), 0);
		assert_int_equal(trace_sites_find(&sites, &walk), id);
	}
	assert_int_equal(sites.tree.node_count, 1 + 99 + 2000);
	assert_int_equal(sites.tree.frame_count, 1 + 10 + 2000);
	trace_sites_free(&sites);
	assert_int_equal(memory.bytes, 0);
}

static void a_longer_stack_is_not_taken_for_its_end(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	uint64_t words[3] = {1, 2, 3};
	struct trace_walk walk = make_walk(words, 3, 1);
	uint32_t id;
	bool is_new;

	(void)state;
	trace_sites_init(&sites, &memory);
	assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), 0);
	assert_true(trace_tree_matches(&sites.tree, trace_site(&sites, id)->node, words, 3));
	assert_false(trace_tree_matches(&sites.tree, trace_site(&sites, id)->node, words, 2));
	assert_false(trace_tree_matches(&sites.tree, 1, words + 1, 2));
	assert_true(trace_tree_matches(&sites.tree, 1, words + 2, 1));
	trace_sites_free(&sites);
}

/* An address may look like a word of an interpreter's frame. */
static void equal_words_of_both_kinds_are_different_frames(void **state)
{
	struct trace_memory memory = {0};
	struct trace_tree tree;
	uint64_t word = 7;
	uint32_t native;
	uint32_t interpreted;

	(void)state;
	trace_tree_init(&tree, &memory);
	assert_int_equal(trace_tree_add(&tree, &word, 1, 1, &native), 0);
	assert_int_equal(trace_tree_add(&tree, &word, 1, 0, &interpreted), 0);
	assert_int_not_equal(native, interpreted);
	assert_int_equal(trace_tree_find(&tree, &word, 1, 1), native);
	assert_int_equal(trace_tree_find(&tree, &word, 1, 0), interpreted);
	trace_tree_free(&tree);
}

static void cleared_stacks_give_their_memory_back(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	struct trace_walk unknown = make_walk(NULL, 0, 0);
	uint64_t before;
	uint32_t id;
	bool is_new;

	(void)state;
	trace_sites_init(&sites, &memory);
	assert_int_equal(trace_sites_add(&sites, &unknown, &id, &is_new), 0);
	before = memory.bytes;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 100000; i++) {
			uint64_t words[3] = {i + 1, i / 7 + 1, 42};
			struct trace_walk walk = make_walk(words, 3, 1);

			assert_int_equal(trace_sites_find(&sites, &walk), TRACE_NONE);
			assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), 0);
		}
		assert_true(memory.bytes > before * 10);
		trace_sites_clear(&sites);
		assert_true(memory.bytes <= before);
		assert_int_equal(sites.site_count, 1);
	}
	trace_sites_free(&sites);
	assert_int_equal(memory.bytes, 0);
}

static void a_limit_of_stacks_is_kept(void **state)
{
	struct trace_memory memory = {0};
	struct trace_sites sites;
	bool is_new;
	uint32_t id;

	(void)state;
	trace_sites_init(&sites, &memory);
	sites.stacks_max = 2;
	for (uint64_t i = 1; i <= 100; i++) {
		struct trace_walk walk = make_walk(&i, 1, 1);

		assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new),
				 i <= 2 ? 0 : -ENOSPC);
	}
	assert_int_equal(sites.tree.node_count, 1 + 2);
	trace_sites_free(&sites);
}

/* Each request for memory fails once; what was added before stays. */
static void every_request_for_memory_may_fail(void **state)
{
	(void)state;
	for (uint64_t fails_at = 1; fails_at < 40; fails_at++) {
		struct trace_memory memory = {.fails_at = fails_at};
		struct trace_sites sites;
		uint32_t failures = 0;

		trace_sites_init(&sites, &memory);
		for (uint64_t i = 1; i <= 40000; i++) {
			struct trace_walk walk = make_walk(&i, 1, 1);
			uint32_t id;
			bool is_new;

			if (trace_sites_add(&sites, &walk, &id, &is_new) < 0) {
				failures++;
				continue;
			}
			assert_int_equal(trace_sites_find(&sites, &walk), id);
		}
		assert_true(failures <= 1);
		trace_sites_free(&sites);
		assert_int_equal(memory.bytes, 0);
	}
}

static void tracked_blocks_are_told_apart_by_domain(void **state)
{
	struct trace_memory memory = {0};
	struct tracked_blocks blocks = {.memory = &memory};

	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		for (uint32_t domain = 1; domain <= 2; domain++)
			assert_int_equal(
				tracked_blocks_add(
					&blocks, &(struct tracked_block){i, i + domain, domain, 1}),
				0);
	for (uint64_t i = 0; i < 2000; i += 2)
		tracked_blocks_remove(&blocks, tracked_blocks_find(&blocks, 1, i));
	for (uint64_t i = 0; i < 2000; i++) {
		const struct tracked_block *one = tracked_blocks_find(&blocks, 1, i);

		assert_int_equal(one != NULL, i % 2);
		assert_int_equal(tracked_blocks_find(&blocks, 2, i)->size, i + 2);
	}
	assert_null(tracked_blocks_find(&blocks, 3, 1));
	tracked_blocks_clear(&blocks);
	assert_int_equal(memory.bytes, 0);
}

static void events_of_an_earlier_ring_are_gone(void **state)
{
	struct trace_memory memory = {0};
	struct trace_events events = {0};
	struct trace_event event;

	(void)state;
	assert_int_equal(trace_events_open(&events, &memory, 8 * sizeof(event)), 0);
	trace_events_put(&events, TRACE_ALLOCATION, 1, 1, 1);
	trace_events_close(&events, &memory);
	assert_int_equal(trace_events_open(&events, &memory, 8 * sizeof(event)), 0);
	trace_events_put(&events, TRACE_ALLOCATION, 2, 2, 2);
	assert_int_equal(trace_events_get(&events, 0, &event), -ENOENT);
	assert_int_equal(trace_events_get(&events, 1, &event), 1);
	assert_int_equal(event.size, 2);
	trace_events_close(&events, &memory);
}

static void old_events_are_overwritten_and_said_to_be_gone(void **state)
{
	struct trace_memory memory = {0};
	struct trace_events events = {0};
	struct trace_event event;

	(void)state;
	assert_int_equal(trace_events_open(&events, &memory, 10 * sizeof(event)), 0);
	assert_int_equal(events.capacity, 8);
	for (uint64_t i = 0; i < 20; i++)
		trace_events_put(&events, TRACE_ALLOCATION, i, i * 2, (uint32_t)i);
	assert_int_equal(trace_events_get(&events, 11, &event), -ENOENT);
	assert_int_equal(trace_events_get(&events, 20, &event), 0);
	for (uint64_t i = 12; i < 20; i++) {
		assert_int_equal(trace_events_get(&events, i, &event), 1);
		assert_int_equal(event.address_kind, i << 8 | TRACE_ALLOCATION);
		assert_int_equal(event.size, i * 2);
	}
	trace_events_close(&events, &memory);
	assert_int_equal(memory.bytes, 0);
}

static void kept_events_make_the_ring_grow_and_shrink(void **state)
{
	struct trace_memory memory = {0};
	struct trace_events events = {0};
	struct trace_event event;

	(void)state;
	assert_int_equal(trace_events_open(&events, &memory, 8 * sizeof(event)), 0);
	for (uint64_t i = 0; i < 13; i++)
		trace_events_put(&events, TRACE_ALLOCATION, i, i, 0);
	trace_events_keep(&events, 10);
	for (uint64_t i = 13; i < 100; i++)
		trace_events_put(&events, TRACE_ALLOCATION, i, i, 0);
	for (uint64_t i = 10; i < 100; i++) {
		assert_int_equal(trace_events_get(&events, i, &event), 1);
		assert_int_equal(event.size, i);
	}
	assert_int_equal(events.capacity, 128);
	trace_events_keep(&events, 97);
	assert_int_equal(events.capacity, 8);
	assert_int_equal(trace_events_get(&events, 91, &event), -ENOENT);
	assert_int_equal(trace_events_get(&events, 97, &event), 1);
	assert_int_equal(event.size, 97);
	memory.fails_at = memory.requests + 1;
	for (uint64_t i = 100; i < 106; i++) /* one grows in vain, the next one succeeds */
		trace_events_put(&events, TRACE_ALLOCATION, i, i, 0);
	assert_int_equal(trace_events_get(&events, 97, &event), -ENOENT);
	assert_int_equal(trace_events_get(&events, 105, &event), 1);
	trace_events_keep_none(&events);
	assert_int_equal(events.capacity, 8);
	trace_events_close(&events, &memory);
	assert_int_equal(memory.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_found_until_they_are_removed),
		cmocka_unit_test(all_blocks_are_walked_over_once),
		cmocka_unit_test(a_block_whose_end_was_not_seen_is_replaced),
		cmocka_unit_test(the_free_of_an_unknown_neighbour_removes_nothing),
		cmocka_unit_test(pages_without_blocks_are_dropped_when_the_directory_is_full),
		cmocka_unit_test(without_memory_new_pages_are_refused_and_old_ones_stay),
		cmocka_unit_test(equal_stacks_have_one_id_and_threads_have_sites_of_their_own),
		cmocka_unit_test(
			stacks_with_a_frame_that_has_ended_keep_their_ids_and_are_not_found),
		cmocka_unit_test(stacks_share_the_frames_of_their_callers),
		cmocka_unit_test(a_longer_stack_is_not_taken_for_its_end),
		cmocka_unit_test(equal_words_of_both_kinds_are_different_frames),
		cmocka_unit_test(cleared_stacks_give_their_memory_back),
		cmocka_unit_test(a_limit_of_stacks_is_kept),
		cmocka_unit_test(every_request_for_memory_may_fail),
		cmocka_unit_test(tracked_blocks_are_told_apart_by_domain),
		cmocka_unit_test(events_of_an_earlier_ring_are_gone),
		cmocka_unit_test(old_events_are_overwritten_and_said_to_be_gone),
		cmocka_unit_test(kept_events_make_the_ring_grow_and_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
