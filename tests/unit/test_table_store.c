/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "base/clock.h"
#include "engine/ebpf/table_store.h"
#include "unwind/table.h"

/* Real maps: what the programs would see is read back from the kernel. */
struct world {
	int inner_fd;
	int chunks_fd;
	int rules_fd;
	struct table_store store;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct bpf_map_create_opts inner = {.sz = sizeof(inner), .map_flags = BPF_F_MMAPABLE};
	struct bpf_map_create_opts outer = {.sz = sizeof(outer)};

	assert_non_null(world);
	*state = world;
	world->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "chunk", sizeof(uint32_t),
					 BPF_WALK_CHUNK_BYTES, 1, &inner);
	outer.inner_map_fd = (uint32_t)world->inner_fd;
	world->chunks_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "store", sizeof(uint32_t),
					  sizeof(uint32_t), BPF_WALK_CHUNKS, &outer);
	world->rules_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rules", sizeof(uint32_t),
					 sizeof(struct unwind_rule), BPF_WALK_RULES, NULL);
	assert_int_equal(table_store_init(&world->store, world->chunks_fd, world->rules_fd), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	table_store_fini(&world->store);
	(void)close(world->inner_fd);
	(void)close(world->chunks_fd);
	(void)close(world->rules_fd);
	free(world);
	return 0;
}

static void need_bpf(const struct world *world)
{
	if (world->inner_fd < 0 || world->chunks_fd < 0 || world->rules_fd < 0)
		skip();
}

/* A word as the kernel has it. */
static uint64_t word_of(const struct world *world, uint64_t at)
{
	uint64_t *words = calloc(1, BPF_WALK_CHUNK_BYTES);
	uint32_t chunk = (uint32_t)(at >> BPF_WALK_CHUNK_SHIFT);
	uint32_t zero = 0;
	uint32_t id;
	uint64_t word;
	int fd;

	assert_non_null(words);
	assert_int_equal(bpf_map_lookup_elem(world->chunks_fd, &chunk, &id), 0);
	fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, words), 0);
	word = words[at & (BPF_WALK_CHUNK_WORDS - 1)];
	(void)close(fd);
	free(words);
	return word;
}

static struct unwind_row row_of(const struct world *world, uint64_t at)
{
	uint64_t word = word_of(world, at);
	struct unwind_row row;

	memcpy(&row, &word, sizeof(row));
	return row;
}

static const struct unwind_rule rules[] = {
	{.cfa = UNWIND_CFA_NONE},
	{.cfa = UNWIND_CFA_SP, .cfa_offset = 16},
	{.cfa = UNWIND_CFA_FP, .cfa_offset = 32},
};

static const struct unwind_row rows[] = {
	{.pc = 0x10, .rule = 1},  {.pc = 0x20, .rule = 2},   {.pc = 0x3f0, .rule = 0},
	{.pc = 0x400, .rule = 1}, {.pc = 0x1010, .rule = 9}, /* a rule that there is not */
};

static const struct unwind_table table = {
	.rows = rows, .rules = rules, .row_count = 5, .rule_count = 3, .base = 0x1000};

static void a_table_is_there_with_rules_of_the_common_dictionary(void **state)
{
	static const struct unwind_rule turned[] = {{.cfa = UNWIND_CFA_NONE},
						    {.cfa = UNWIND_CFA_FP, .cfa_offset = 32}};
	static const struct unwind_row one[] = {{.pc = 0, .rule = 1}};
	const struct unwind_table other = {
		.rows = one, .rules = turned, .row_count = 1, .rule_count = 2};
	struct world *world = *state;
	struct stored_table first;
	struct stored_table second;
	struct unwind_rule rule;
	uint32_t number;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &table, &first), 0);
	assert_int_equal(table_store_table(&world->store, &other, &second), 0);
	assert_int_equal(first.row_count, 5);
	assert_int_equal(first.base, 0x1000);
	assert_int_equal(row_of(world, first.first_row + 1).pc, 0x20);
	assert_int_equal(row_of(world, first.first_row + 2).rule, 0);
	assert_int_equal(row_of(world, first.first_row + 4).rule, 0);
	/* Equal rules of two tables are one. */
	number = row_of(world, first.first_row + 1).rule;
	assert_int_equal(row_of(world, second.first_row).rule, number);
	assert_int_equal(bpf_map_lookup_elem(world->rules_fd, &number, &rule), 0);
	assert_memory_equal(&rule, &rules[2], sizeof(rule));
	assert_int_equal(world->store.rules.count, 3);
}

static void pages_say_which_rows_or_which_rule_hold_in_them(void **state)
{
	/* The row that holds at the start and the first behind the end; or {rule}. */
	static const uint32_t expected[17][2] = {
		{0, 2}, {2}, {2}, {1, 3}, {1}, {1}, {1}, {1},    {1},
		{1},    {1}, {1}, {1},    {1}, {1}, {1}, {3, 5},
	};
	struct world *world = *state;
	struct stored_table stored;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &table, &stored), 0);
	assert_int_equal(stored.page_count, 17);
	for (uint32_t i = 0; i < 17; i++) {
		uint64_t page = word_of(world, stored.first_page + i);
		uint32_t row = expected[i][0] == 2 ? 1 : 0; /* one with that rule */

		if (expected[i][1] != 0)
			assert_int_equal(page, expected[i][0] | (uint64_t)expected[i][1] << 32);
		else
			assert_int_equal(page, row_of(world, stored.first_row + row).rule |
						       BPF_WALK_ONE_RULE);
	}
	assert_int_equal(table_store_table_words(&table), 5 + 17);
}

static void a_table_without_rows_takes_nothing(void **state)
{
	const struct unwind_table empty = {.rules = rules, .rule_count = 3};
	struct world *world = *state;
	struct stored_table stored;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &empty, &stored), 0);
	assert_int_equal(stored.row_count, 0);
	assert_int_equal(table_store_table_words(&empty), 0);
	assert_int_equal(world->store.chunks.count, 0);
}

static void a_large_table_goes_through_chunks(void **state)
{
	uint32_t count = BPF_WALK_CHUNK_WORDS + 100;
	struct unwind_row *many = calloc(count, sizeof(*many));
	struct unwind_table large = {
		.rows = many, .rules = rules, .row_count = count, .rule_count = 3};
	struct world *world = *state;
	struct stored_table stored;

	assert_non_null(many);
	for (uint32_t i = 0; i < count; i++)
		many[i] = (struct unwind_row){.pc = 4 * i, .rule = 1 + i % 2};
	if (world->rules_fd >= 0) {
		assert_int_equal(table_store_table(&world->store, &large, &stored), 0);
		assert_int_equal(row_of(world, stored.first_row + count - 1).pc, 4 * (count - 1));
		assert_int_equal(row_of(world, stored.first_row + BPF_WALK_CHUNK_WORDS).pc,
				 4 * BPF_WALK_CHUNK_WORDS);
		assert_int_equal(world->store.chunks.count, 2);
	}
	free(many);
	need_bpf(world);
}

static void mappings_lie_in_one_chunk_each(void **state)
{
	struct bpf_walk_mapping *mappings = calloc(BPF_WALK_MAPPINGS + 1, sizeof(*mappings));
	struct world *world = *state;
	bool works = world->rules_fd >= 0;
	uint32_t first;

	assert_non_null(mappings);
	for (uint32_t i = 0; i < BPF_WALK_MAPPINGS; i++)
		mappings[i].start = i;
	for (int round = 0; round < 5 && works; round++) {
		assert_int_equal(
			table_store_mappings(&world->store, mappings, BPF_WALK_MAPPINGS, &first),
			0);
		assert_int_equal(first >> BPF_WALK_CHUNK_SHIFT,
				 (first + BPF_WALK_MAPPINGS * BPF_WALK_MAPPING_WORDS - 1) >>
					 BPF_WALK_CHUNK_SHIFT);
		assert_int_equal(word_of(world, first + 4095 * BPF_WALK_MAPPING_WORDS), 4095);
	}
	if (works)
		assert_int_equal(table_store_mappings(&world->store, mappings,
						      BPF_WALK_MAPPINGS + 1, &first),
				 -E2BIG);
	free(mappings);
	need_bpf(world);
}

static void room_given_back_is_used_again_but_not_at_once(void **state)
{
	const struct bpf_walk_mapping mappings[3] = {{.start = 1}, {.start = 2}, {.start = 3}};
	struct world *world = *state;
	uint32_t first;
	uint32_t again;

	need_bpf(world);
	assert_int_equal(table_store_mappings(&world->store, mappings, 3, &first), 0);
	table_store_release_mappings(&world->store, first, 3);
	assert_int_equal(table_store_mappings(&world->store, mappings, 3, &again), 0);
	assert_int_not_equal(again, first); /* a program may still be reading there */
	world->store.free[2].items[0].since_ns -= NS_PER_SEC;
	assert_int_equal(table_store_mappings(&world->store, mappings, 4 - 1, &again), 0);
	assert_int_equal(again, first);
	assert_int_equal(world->store.free[2].count, 0);
}

static void what_rests_is_not_mapped_but_is_there_and_can_be_written(void **state)
{
	struct bpf_walk_mapping mappings[3] = {{.start = 1}, {.start = 2}, {.start = 3}};
	struct world *world = *state;
	struct stored_table stored;
	size_t mapped = 0;
	uint32_t first;
	uint32_t again;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &table, &stored), 0);
	assert_int_equal(table_store_mappings(&world->store, mappings, 3, &first), 0);
	table_store_rest(&world->store);
	for (int i = 1; i < 20; i++) { /* each in a chunk of its own */
		world->store.next = (uint64_t)i * BPF_WALK_CHUNK_WORDS;
		assert_int_equal(table_store_mappings(&world->store, mappings, 3, &again), 0);
		table_store_rest(&world->store);
	}
	for (size_t i = 0; i < world->store.chunks.count; i++)
		mapped += world->store.chunks.items[i].words != NULL;
	assert_in_range(mapped, 1, TABLE_STORE_MAPPED_CHUNKS);
	assert_null(world->store.chunks.items[0].words);
	assert_int_equal(row_of(world, stored.first_row + 1).pc, 0x20);
	table_store_release_mappings(&world->store, first, 3);
	world->store.free[2].items[0].since_ns -= NS_PER_SEC;
	mappings[1].start = 7;
	assert_int_equal(table_store_mappings(&world->store, mappings, 3, &again), 0);
	assert_int_equal(again, first);
	assert_int_equal(word_of(world, first + BPF_WALK_MAPPING_WORDS), 7);
}

static void a_store_that_is_full_says_so_and_keeps_what_it_has(void **state)
{
	struct world *world = *state;
	struct stored_table stored;
	struct stored_table more;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &table, &stored), 0);
	assert_int_equal(table_store_reserve(&world->store, 1ull << 40), -ENOSPC);
	assert_int_equal(table_store_reserve(&world->store, UINT64_MAX), -ENOSPC);
	assert_int_equal(world->store.chunks.count, 1);
	world->store.next = (uint64_t)BPF_WALK_CHUNKS * BPF_WALK_CHUNK_WORDS - 3;
	assert_int_equal(table_store_table(&world->store, &table, &more), -ENOSPC);
	assert_int_equal(row_of(world, stored.first_row).pc, 0x10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_table_is_there_with_rules_of_the_common_dictionary),
		TEST(pages_say_which_rows_or_which_rule_hold_in_them),
		TEST(a_table_without_rows_takes_nothing),
		TEST(a_large_table_goes_through_chunks),
		TEST(mappings_lie_in_one_chunk_each),
		TEST(room_given_back_is_used_again_but_not_at_once),
		TEST(what_rests_is_not_mapped_but_is_there_and_can_be_written),
		TEST(a_store_that_is_full_says_so_and_keeps_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
