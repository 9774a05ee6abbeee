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
	uint8_t *copy; /* of the first chunk, for tests that look at it very often */
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
	free(world->copy);
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

/* A chunk as the kernel has it: the caller frees it. NULL if it is not published. */
static uint8_t *chunk_of(const struct world *world, uint64_t byte)
{
	uint8_t *bytes = calloc(1, BPF_WALK_CHUNK_BYTES);
	uint32_t chunk = (uint32_t)(byte / 8 >> BPF_WALK_CHUNK_SHIFT);
	uint32_t zero = 0;
	uint32_t id;
	int fd;

	assert_non_null(bytes);
	if (bpf_map_lookup_elem(world->chunks_fd, &chunk, &id) < 0) {
		free(bytes);
		return NULL;
	}
	fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, bytes), 0);
	(void)close(fd);
	return bytes;
}

static void read_bytes(const struct world *world, uint64_t at, void *ret, size_t size)
{
	uint8_t *chunk = world->copy ? world->copy : chunk_of(world, at);

	assert_non_null(chunk);
	assert_true((at & BPF_WALK_CHUNK_MASK) + size <= BPF_WALK_CHUNK_BYTES);
	memcpy(ret, chunk + (at & BPF_WALK_CHUNK_MASK), size);
	if (!world->copy)
		free(chunk);
}

static uint64_t word_of(const struct world *world, uint64_t at)
{
	uint64_t word;

	read_bytes(world, at * 8, &word, sizeof(word));
	return word;
}

/* The number of a rule according to the kernel's copy, as the programs look it up. */
static uint32_t rule_at(const struct world *world, const struct stored_table *stored,
			uint32_t offset)
{
	uint64_t page = word_of(world, stored->first_page + (offset >> BPF_WALK_PAGE_SHIFT));
	uint32_t count = bpf_page_count(page);
	uint32_t found = 0;
	uint16_t rule;

	for (uint32_t i = 0; i < count && found == i; i += 8) {
		uint64_t eight;

		read_bytes(world, bpf_page_rows(page) + i, &eight, sizeof(eight));
		found += bpf_bytes_at_most(eight, count - i, (uint8_t)offset);
	}
	if (found == 0)
		return bpf_page_rule(page);
	read_bytes(world, bpf_page_rows(page) + count + 2ull * (found - 1), &rule, sizeof(rule));
	return rule;
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

static void store(struct world *world, const struct unwind_table *what, struct stored_table *ret)
{
	assert_int_equal(table_store_table(&world->store, what, ret), 0);
	assert_int_equal(table_store_publish(&world->store), 0);
}

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
	store(world, &table, &first);
	store(world, &other, &second);
	assert_int_equal(first.base, 0x1000);
	assert_int_equal(first.page_count, 17);
	assert_int_equal(rule_at(world, &first, 0x3f0), 0);
	assert_int_equal(rule_at(world, &first, 0x1010), 0);
	/* Equal rules of two tables are one. */
	number = rule_at(world, &first, 0x20);
	assert_int_equal(rule_at(world, &second, 0), number);
	assert_int_equal(bpf_map_lookup_elem(world->rules_fd, &number, &rule), 0);
	assert_memory_equal(&rule, &rules[2], sizeof(rule));
	assert_int_equal(world->store.rules.count, 3);
}

static void every_offset_has_the_rule_of_the_table(void **state)
{
	enum { ROWS = 700 };
	/* A page full of rows, pages without any, single rows; the first page begins without one.
	 */
	struct unwind_row many[ROWS];
	const struct unwind_table wide = {
		.rows = many, .rules = rules, .row_count = ROWS, .rule_count = 3};
	struct world *world = *state;
	struct stored_table stored;
	uint32_t pc = 3;

	need_bpf(world);
	for (uint32_t i = 0; i < ROWS; i++) {
		many[i] = (struct unwind_row){.pc = pc, .rule = (uint16_t)(i % 3)};
		pc += i < 300 ? 1 : (i * i) % 97 + 1 + (i % 50 == 0) * 700;
	}
	store(world, &wide, &stored);
	assert_int_equal(world->store.chunks.count, 1);
	world->copy = chunk_of(world, 0);
	for (uint32_t offset = 0; offset < stored.page_count << BPF_WALK_PAGE_SHIFT; offset++) {
		const struct unwind_rule *expected = unwind_table_find(&wide, offset);
		uint32_t number = rule_at(world, &stored, offset);

		assert_int_equal(number, expected ? expected - rules : 0);
	}
}

static void bytes_up_to_a_limit_are_counted_eight_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(bpf_bytes_at_most(0, 8, 0), 8);
	assert_int_equal(bpf_bytes_at_most(UINT64_MAX, 8, 254), 0);
	assert_int_equal(bpf_bytes_at_most(UINT64_MAX, 8, 255), 8);
	assert_int_equal(bpf_bytes_at_most(0xff80402010080402ull, 8, 0x10), 4);
	assert_int_equal(bpf_bytes_at_most(0xff80402010080402ull, 8, 0x0f), 3);
	assert_int_equal(bpf_bytes_at_most(0xff80402010080402ull, 8, 0x80), 7);
	assert_int_equal(bpf_bytes_at_most(0xff80402010080402ull, 100, 0x80), 7);
	/* What follows the last one does not count. */
	assert_int_equal(bpf_bytes_at_most(0x80, 1, 0x40), 0);
	assert_int_equal(bpf_bytes_at_most(0x80, 1, 0x80), 1);
	assert_int_equal(bpf_bytes_at_most(0x8040, 2, 255), 2);
	assert_int_equal(bpf_bytes_at_most(0, 0, 255), 0);
}

static void a_table_without_rows_takes_nothing(void **state)
{
	const struct unwind_table empty = {.rules = rules, .rule_count = 3};
	struct world *world = *state;
	struct stored_table stored;

	need_bpf(world);
	store(world, &empty, &stored);
	assert_int_equal(stored.page_count, 0);
	assert_int_equal(world->store.chunks.count, 0);
}

static void a_large_table_goes_through_chunks_and_no_page_does(void **state)
{
	uint32_t count = 4 * BPF_WALK_CHUNK_WORDS;
	struct unwind_row *many = calloc(count, sizeof(*many));
	struct unwind_table large = {
		.rows = many, .rules = rules, .row_count = count, .rule_count = 3};
	struct world *world = *state;
	struct stored_table stored;

	assert_non_null(many);
	for (uint32_t i = 0; i < count; i++)
		many[i] = (struct unwind_row){.pc = 4 * i + i % 3, .rule = 1 + i % 2};
	if (world->rules_fd >= 0) {
		uint32_t crossed = 0;

		store(world, &large, &stored);
		assert_int_equal(world->store.chunks.count, 2);
		for (uint32_t i = 0; i < stored.page_count; i += 487) {
			uint64_t page = word_of(world, stored.first_page + i);
			uint64_t at = bpf_page_rows(page);
			uint64_t end = at + bpf_page_count(page) * BPF_WALK_ROW_BYTES - 1;

			assert_int_equal(at / 8 >> BPF_WALK_CHUNK_SHIFT,
					 end / 8 >> BPF_WALK_CHUNK_SHIFT);
			crossed += at / 8 >> BPF_WALK_CHUNK_SHIFT;
			assert_int_equal(rule_at(world, &stored, many[i * 64 + 1].pc),
					 many[i * 64 + 1].rule);
		}
		assert_true(crossed > 0);
	}
	free(many);
	need_bpf(world);
}

static void chunks_are_seen_when_they_are_published(void **state)
{
	struct world *world = *state;
	struct stored_table stored;

	need_bpf(world);
	assert_int_equal(table_store_table(&world->store, &table, &stored), 0);
	assert_null(chunk_of(world, stored.first_page * 8ull));
	assert_int_equal(table_store_publish(&world->store), 0);
	assert_int_equal(bpf_page_count(word_of(world, stored.first_page)), 2);
	assert_int_equal(table_store_publish(&world->store), 0); /* nothing new */
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
		assert_int_equal(table_store_publish(&world->store), 0);
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

static void few_chunks_are_mapped_and_all_can_be_written(void **state)
{
	struct bpf_walk_mapping mappings[3] = {{.start = 1}, {.start = 2}, {.start = 3}};
	struct world *world = *state;
	struct stored_table stored;
	size_t mapped = 0;
	uint32_t first;
	uint32_t again;

	need_bpf(world);
	store(world, &table, &stored);
	assert_int_equal(table_store_mappings(&world->store, mappings, 3, &first), 0);
	for (int i = 1; i < 20; i++) { /* each in a chunk of its own */
		world->store.next = (uint64_t)i * BPF_WALK_CHUNK_WORDS;
		assert_int_equal(table_store_mappings(&world->store, mappings, 3, &again), 0);
	}
	for (size_t i = 0; i < world->store.chunks.count; i++)
		mapped += world->store.chunks.items[i].words != NULL;
	assert_int_equal(mapped, TABLE_STORE_MAPPED_CHUNKS);
	assert_null(world->store.chunks.items[0].words);
	assert_int_equal(rule_at(world, &stored, 0x20), 2);
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
	store(world, &table, &stored);
	assert_int_equal(table_store_reserve(&world->store, 1ull << 40), -ENOSPC);
	assert_int_equal(table_store_reserve(&world->store, UINT64_MAX), -ENOSPC);
	assert_int_equal(world->store.chunks.count, 1);
	world->store.next = (uint64_t)BPF_WALK_CHUNKS * BPF_WALK_CHUNK_WORDS - 3;
	assert_int_equal(table_store_table(&world->store, &table, &more), -ENOSPC);
	assert_int_equal(rule_at(world, &stored, 0x10), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_table_is_there_with_rules_of_the_common_dictionary),
		TEST(every_offset_has_the_rule_of_the_table),
		cmocka_unit_test(bytes_up_to_a_limit_are_counted_eight_at_a_time),
		TEST(a_table_without_rows_takes_nothing),
		TEST(a_large_table_goes_through_chunks_and_no_page_does),
		TEST(chunks_are_seen_when_they_are_published),
		TEST(mappings_lie_in_one_chunk_each),
		TEST(room_given_back_is_used_again_but_not_at_once),
		TEST(few_chunks_are_mapped_and_all_can_be_written),
		TEST(a_store_that_is_full_says_so_and_keeps_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
