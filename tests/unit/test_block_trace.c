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

/* Adds and removes at random; an array says what must be there. */
static void blocks_are_found_until_they_are_removed(void **state)
{
	static uint64_t truth[ADDRESSES];
	struct trace_memory memory = {0};
	struct trace_blocks blocks = {.memory = &memory};
	size_t live = 0;

	(void)state;
	srand(7);
	for (int step = 0; step < 200000; step++) {
		size_t i = (size_t)rand() % ADDRESSES;
		uint64_t address = 0x7f0000000010ull + i * 16;
		struct trace_block *block = trace_blocks_find(&blocks, address);

		if (truth[i] == 0) {
			assert_null(block);
			truth[i] = (uint64_t)step + 1 + ((uint64_t)i << 33);
			trace_block_set(trace_blocks_put(&blocks, address), truth[i], (uint32_t)i);
			live++;
			continue;
		}
		assert_non_null(block);
		assert_int_equal(trace_block_size(block), truth[i]);
		assert_int_equal(block->site, i);
		trace_blocks_remove(&blocks, block);
		truth[i] = 0;
		live--;
	}
	assert_int_equal(blocks.count, live);
	trace_blocks_clear(&blocks);
	assert_int_equal(memory.bytes, 0);
}

static void a_block_that_is_known_is_returned_again(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks = {.memory = &memory};
	struct trace_block *block;

	(void)state;
	block = trace_blocks_put(&blocks, 4096);
	assert_non_null(block);
	assert_int_equal(block->site, TRACE_NO_SITE);
	trace_block_set(block, 10, 3);
	block = trace_blocks_put(&blocks, 4096);
	assert_non_null(block);
	assert_int_equal(block->site, 3);
	assert_int_equal(blocks.count, 1);
	trace_blocks_clear(&blocks);
}

static void without_memory_blocks_fill_the_table_and_then_are_refused(void **state)
{
	struct trace_memory memory = {0};
	struct trace_blocks blocks = {.memory = &memory};
	uint64_t address = 16;

	(void)state;
	assert_non_null(trace_blocks_put(&blocks, address));
	/* From here on every request is refused: the number moves with them. */
	for (;; address += 16) {
		memory.fails_at = memory.requests + 1;
		if (!trace_blocks_put(&blocks, address + 16))
			break;
	}
	assert_true(blocks.count + 1 == blocks.capacity);
	for (uint64_t i = 16; i <= address; i += 16)
		assert_non_null(trace_blocks_find(&blocks, i));
	trace_blocks_clear(&blocks);
}

static struct trace_walk make_walk(const uint64_t *words, uint32_t calls, uint32_t thread)
{
	struct trace_walk walk = {.words = words, .calls = calls, .depth = calls, .thread = thread};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < calls; i++)
		sum += trace_word_hash(words[i], TRACE_WORD_KEY * (i + 1));
	walk.hash = trace_walk_hash(&walk, sum);
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
				uint64_t words[3] = {i, i / 7, 42};
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

static void retired_stacks_keep_their_ids_and_are_not_found(void **state)
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
	assert_int_equal(trace_sites_stack_of(&sites, 1), 0);
	trace_sites_retire(&sites, 0);
	assert_int_equal(trace_sites_find(&sites, &walk), TRACE_NONE);
	assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), 0);
	assert_true(is_new);
	assert_int_not_equal(id, old);
	assert_int_equal(trace_sites_find(&sites, &walk), id);
	assert_int_equal(trace_sites_stack_of(&sites, 2), 1);
	trace_sites_free(&sites);
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
	for (uint64_t i = 0; i < 3; i++) {
		struct trace_walk walk = make_walk(&i, 1, 1);

		assert_int_equal(trace_sites_add(&sites, &walk, &id, &is_new), i < 2 ? 0 : -ENOSPC);
	}
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
		for (uint64_t i = 0; i < 40000; i++) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_found_until_they_are_removed),
		cmocka_unit_test(a_block_that_is_known_is_returned_again),
		cmocka_unit_test(without_memory_blocks_fill_the_table_and_then_are_refused),
		cmocka_unit_test(equal_stacks_have_one_id_and_threads_have_sites_of_their_own),
		cmocka_unit_test(retired_stacks_keep_their_ids_and_are_not_found),
		cmocka_unit_test(a_limit_of_stacks_is_kept),
		cmocka_unit_test(every_request_for_memory_may_fail),
		cmocka_unit_test(tracked_blocks_are_told_apart_by_domain),
		cmocka_unit_test(old_events_are_overwritten_and_said_to_be_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
