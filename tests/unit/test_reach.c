/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/reach.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"

/*
 * A process that is made up: a heap, data, a stack of which a half is dead, and a library with
 * tables and code. Blocks are 64 bytes apart and 40 long unless said otherwise.
 */
#define HEAP 0x10000000u
#define DATA 0x20000000u
#define DEAD 0x30000000u
#define STACK 0x30001000u
#define LIBRARY 0x40000000u
#define CODE 0x40001000u
#define PAGE 0x1000u
#define BLOCKS 32u

struct world {
	uint64_t heap[4 * PAGE / 8];
	uint64_t data[PAGE / 8];
	uint64_t dead[PAGE / 8];
	uint64_t stack[PAGE / 8];
	uint64_t library[PAGE / 8];
	struct reach_block blocks[BLOCKS];
	size_t count;
	uint64_t registers[2];
	bool hole; /* the data cannot be read */
	struct reach_result result;
};

static const struct {
	uint64_t start;
	size_t offset;
	size_t size;
} places[] = {
	{HEAP, offsetof(struct world, heap), 4 * PAGE},
	{DATA, offsetof(struct world, data), PAGE},
	{DEAD, offsetof(struct world, dead), PAGE},
	{STACK, offsetof(struct world, stack), PAGE},
	{LIBRARY, offsetof(struct world, library), PAGE},
};

static size_t read_world(void *self, uint64_t address, void *buffer, size_t size)
{
	const struct world *world = self;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint64_t offset = address - places[i].start;

		if (address < places[i].start || offset >= places[i].size)
			continue;
		if (world->hole && places[i].start == DATA)
			return 0;
		if (size > places[i].size - offset)
			size = places[i].size - offset;
		memcpy(buffer, (const uint8_t *)world + places[i].offset + offset, size);
		return size;
	}
	return 0;
}

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){.count = 8};
	for (size_t i = 0; i < BLOCKS; i++)
		world.blocks[i] =
			(struct reach_block){.address = HEAP + 64 * (i + 1), .size_bytes = 40};
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	free(world->result.answers);
	return 0;
}

static uint64_t address_of(const struct world *world, size_t block)
{
	return world->blocks[block].address;
}

/* A word of a block. */
static uint64_t *word(struct world *world, size_t block, size_t i)
{
	return &world->heap[(address_of(world, block) - HEAP) / 8 + i];
}

static const struct reach_answer *scan(struct world *world)
{
	const struct reach_range ranges[] = {
		{HEAP, HEAP + 4 * PAGE, LEAK_FROM_FREED, true},
		{DATA, DATA + PAGE, LEAK_FROM_GLOBAL, false},
		{DEAD, DEAD + PAGE, LEAK_FROM_DEAD_STACK, true},
		{STACK, STACK + PAGE, LEAK_FROM_STACK, false},
	};
	const struct reach_file files[] = {{LIBRARY, LIBRARY + PAGE, false},
					   {CODE, CODE + PAGE, true}};
	const struct reach_config config = {.read = read_world,
					    .self = world,
					    .ranges = ranges,
					    .range_count = ARRAY_SIZE(ranges),
					    .registers = world->registers,
					    .register_count = 2,
					    .files = files,
					    .file_count = 2};

	assert_int_equal(reach_run(&config, world->blocks, world->count, &world->result), 0);
	return world->result.answers;
}

static void blocks_are_found_by_any_address_in_them(void **state)
{
	struct reach_block blocks[] = {
		{.address = 0x1000, .size_bytes = 16},
		{.address = 0x1010, .size_bytes = 0},
		{.address = 0x1020, .size_bytes = 4000},
		{.address = 0x5000000, .size_bytes = 1u << 20},
		{.address = 0x5100000, .size_bytes = 1},
		{.address = 0x5100100, .size_bytes = 8}, /* perhaps the number of an array */
		{.address = 0x5100108, .size_bytes = 8},
	};
	const struct {
		uint64_t address;
		uint32_t block;
	} cases[] = {
		{0xfff, REACH_NOWHERE},
		{0x1000, 0},
		{0x100f, 0},
		{0x1010, 1},
		{0x1011, REACH_NOWHERE},
		{0x1020, 2},
		{0x1fbf, 2},
		{0x1fc0, REACH_NOWHERE},
		{0x4ffffff, REACH_NOWHERE},
		{0x50fffff, 3},
		{0x5100000, 4},
		{0x5100001, REACH_NOWHERE},
		{0x5100108, 6},
		{0x5100110, 6},
		{0x5100111, REACH_NOWHERE},
		{UINT64_MAX, REACH_NOWHERE},
		{0, REACH_NOWHERE},
	};
	struct reach_index index;

	assert_int_equal(reach_index_init(&index, blocks, ARRAY_SIZE(blocks)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(reach_index_find(&index, cases[i].address), cases[i].block);
	reach_index_fini(&index);
	assert_int_equal(reach_index_init(&index, NULL, 0), 0);
	assert_int_equal(reach_index_find(&index, 0x1000), REACH_NOWHERE);
	reach_index_fini(&index);
}

static void what_data_stacks_and_registers_point_to_is_reachable(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->data[3] = address_of(world, 0);
	world->stack[7] = address_of(world, 1);
	world->registers[1] = address_of(world, 2);
	*word(world, 2, 4) = address_of(world, 3); /* the last whole word */
	answers = scan(world);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(answers[i].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[0].evidence, LEAK_FROM_GLOBAL);
	assert_int_equal(answers[1].evidence, LEAK_FROM_STACK);
	assert_int_equal(answers[2].evidence, LEAK_FROM_REGISTER);
	assert_int_equal(answers[3].evidence, LEAK_FROM_BLOCK);
	assert_int_equal(answers[4].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[4].evidence, 0);
}

static void what_lost_blocks_hold_is_lost_with_them(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	*word(world, 4, 0) = address_of(world, 1) + 8; /* a later one leads: into the midst */
	*word(world, 1, 0) = address_of(world, 2);
	*word(world, 2, 1) = address_of(world, 1);
	world->count = 5;
	answers = scan(world);
	assert_int_equal(answers[4].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[4].led_blocks, 2);
	assert_int_equal(answers[4].led_bytes, 80);
	assert_int_equal(answers[1].leak_class, LEAK_INDIRECT);
	assert_int_equal(answers[2].leak_class, LEAK_INDIRECT);
	assert_int_equal(answers[0].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[0].led_blocks, 0);
}

static void a_ring_that_nobody_holds_has_one_leader(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	for (size_t i = 0; i < 4; i++)
		*word(world, i, 2) = address_of(world, (i + 1) % 4);
	*word(world, 5, 0) = address_of(world, 5); /* itself is no ring */
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[0].led_blocks, 3);
	assert_true(answers[0].evidence & LEAK_IN_CYCLE);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(answers[i].leak_class, LEAK_INDIRECT);
	assert_int_equal(answers[5].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[5].evidence, 0);
}

static void pointers_into_a_block_make_it_and_what_it_holds_possible(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->data[0] = address_of(world, 0) + 16;
	*word(world, 0, 3) = address_of(world, 1);
	world->data[1] = address_of(world, 2) + 40; /* behind its end */
	world->data[2] = address_of(world, 3) + 8;
	world->data[3] = address_of(world, 3); /* found out later than the one before */
	*word(world, 3, 0) = address_of(world, 4);
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_POSSIBLE);
	assert_int_equal(answers[0].evidence, LEAK_FROM_GLOBAL | LEAK_INSIDE);
	assert_int_equal(answers[1].leak_class, LEAK_POSSIBLE);
	assert_int_equal(answers[2].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[3].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[4].leak_class, LEAK_REACHABLE);
}

static void shapes_with_a_head_are_reachable_by_what_follows_it(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	*word(world, 0, 0) = 4; /* new[] of four elements of eight bytes */
	*word(world, 1, 0) = 5; /* 32 bytes are not five of anything */
	*word(world, 2, 0) = 3; /* a text of 3 characters with room for 15 */
	*word(world, 2, 1) = 15;
	*word(world, 3, 0) = 16; /* longer than its room */
	*word(world, 3, 1) = 15;
	world->data[0] = address_of(world, 0) + 8;
	world->data[1] = address_of(world, 1) + 8;
	world->data[2] = address_of(world, 2) + 24;
	world->data[3] = address_of(world, 3) + 24;
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[1].leak_class, LEAK_POSSIBLE);
	assert_int_equal(answers[2].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[3].leak_class, LEAK_POSSIBLE);
}

static void an_array_of_nothing_is_reachable_by_where_it_ends(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	for (size_t i = 0; i < 6; i++)
		world->blocks[i].size_bytes = 8;
	*word(world, 1, 0) = 1; /* a number, but not that of no objects */
	world->data[0] = address_of(world, 0) + 8;
	world->data[1] = address_of(world, 1) + 8;
	world->dead[0] = address_of(world, 2) + 8;     /* a shade */
	*word(world, 6, 0) = address_of(world, 3) + 8; /* a block that is lost */
	*word(world, 6, 1) = address_of(world, 1) + 8;
	world->data[2] = address_of(world, 7) + 16; /* one that is possibly reachable */
	*word(world, 7, 0) = address_of(world, 4) + 8;
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[1].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[1].evidence, 0);
	assert_int_equal(answers[2].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[3].leak_class, LEAK_INDIRECT);
	assert_int_equal(answers[4].leak_class, LEAK_POSSIBLE);
	assert_int_equal(answers[5].leak_class, LEAK_DEFINITE);
	assert_int_equal(answers[6].led_blocks, 1);
}

static void an_object_is_reachable_by_its_second_base(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->library[0] = CODE + 4; /* a table with a function that is missing */
	world->library[2] = CODE + 8;
	world->library[10] = CODE;
	world->library[11] = LIBRARY; /* no function */
	for (size_t i = 0; i < 2; i++) {
		*word(world, i, 0) = LIBRARY;
		world->data[i] = address_of(world, i) + 16;
	}
	*word(world, 0, 2) = LIBRARY;
	*word(world, 1, 2) = LIBRARY + 80;
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_REACHABLE);
	assert_int_equal(answers[1].leak_class, LEAK_POSSIBLE);
}

static void what_is_only_left_over_makes_a_leak_probable(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->dead[5] = address_of(world, 0);
	world->heap[PAGE / 8] = address_of(world, 1); /* free memory of the allocator */
	*word(world, 3, 5) = address_of(world, 2);    /* behind the 40 that a block of 33 has */
	world->blocks[3].size_bytes = 33;
	world->dead[6] = address_of(world, 4) + 8; /* of shades only beginnings count */
	*word(world, 0, 0) = address_of(world, 5);
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_PROBABLE);
	assert_int_equal(answers[0].evidence, LEAK_FROM_DEAD_STACK);
	assert_int_equal(answers[0].led_blocks, 1);
	assert_int_equal(answers[5].leak_class, LEAK_INDIRECT);
	assert_int_equal(answers[1].evidence, LEAK_FROM_FREED);
	assert_int_equal(answers[1].leak_class, LEAK_PROBABLE);
	assert_int_equal(answers[2].evidence, LEAK_FROM_FREED);
	assert_int_equal(answers[4].leak_class, LEAK_DEFINITE);
}

static void padding_behind_a_block_is_not_the_program_s(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->blocks[0].size_bytes = 25; /* 40 with what the allocator gives */
	*word(world, 0, 4) = address_of(world, 1);
	world->data[0] = address_of(world, 0);
	answers = scan(world);
	assert_int_equal(answers[1].leak_class, LEAK_PROBABLE);
	assert_int_equal(answers[1].evidence, LEAK_FROM_PADDING);
}

static void memory_that_cannot_be_read_is_counted(void **state)
{
	struct world *world = *state;
	const struct reach_answer *answers;

	world->data[0] = address_of(world, 0);
	world->hole = true;
	answers = scan(world);
	assert_int_equal(answers[0].leak_class, LEAK_DEFINITE);
	assert_int_equal(world->result.unread_bytes, PAGE);
	assert_int_equal(world->result.read_bytes, 6 * PAGE);
}

/* A large range, of which a page is there: what is read of it is counted. */
#define SPARSE 0x100000000ull
#define SPARSE_BYTES (8ull << 30)
#define SPARSE_PAGE (SPARSE + (5ull << 30) + 7 * PAGE)

struct sparse {
	uint64_t word; /* at the end of the page */
	uint64_t read_bytes;
};

static size_t read_sparse(void *self, uint64_t address, void *buffer, size_t size)
{
	struct sparse *sparse = self;
	uint64_t place = SPARSE_PAGE + PAGE - 8;

	memset(buffer, 0, size);
	if (place >= address && place + 8 <= address + size)
		memcpy((uint8_t *)buffer + (place - address), &sparse->word, 8);
	sparse->read_bytes += size;
	return size;
}

static uint64_t next_page(void *self, enum reach_pages pages, uint64_t from, uint64_t end)
{
	(void)self;
	assert_int_not_equal(pages, REACH_PAGES_ALL);
	if (from >= SPARSE_PAGE + PAGE || end <= SPARSE_PAGE)
		return end;
	return from < SPARSE_PAGE ? SPARSE_PAGE : from;
}

static void memory_that_was_never_touched_is_not_read(void **state)
{
	const struct reach_block block = {.address = HEAP, .size_bytes = 40};
	struct sparse sparse = {.word = HEAP};
	struct reach_range range = {SPARSE, SPARSE + SPARSE_BYTES, LEAK_FROM_MAPPING, false,
				    REACH_PAGES_PRIVATE};
	const struct reach_config config = {.read = read_sparse,
					    .next_touched = next_page,
					    .self = &sparse,
					    .ranges = &range,
					    .range_count = 1};
	const struct {
		enum reach_pages pages;
		uint64_t most_bytes;
	} all[] = {{REACH_PAGES_PRIVATE, 1ull << 20}, {REACH_PAGES_SHARED, 128ull << 20}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct reach_result result;

		range.pages = (uint8_t)all[i].pages;
		sparse.read_bytes = 0;
		assert_int_equal(reach_run(&config, &block, 1, &result), 0);
		assert_int_equal(result.answers[0].leak_class, LEAK_REACHABLE);
		assert_true(sparse.read_bytes >= PAGE && sparse.read_bytes <= all[i].most_bytes);
		assert_int_equal(result.unread_bytes, 0);
		free(result.answers);
	}
}

static void registers_of_very_many_threads_are_all_looked_at(void **state)
{
	const struct reach_block block = {.address = HEAP, .size_bytes = 40};
	size_t count = 1u << 20;
	uint64_t *registers = calloc(count, sizeof(*registers));
	const struct reach_config config = {
		.read = read_world, .registers = registers, .register_count = count};
	struct reach_result result;

	(void)state;
	assert_non_null(registers);
	registers[count - 1] = HEAP;
	assert_int_equal(reach_run(&config, &block, 1, &result), 0);
	assert_int_equal(result.answers[0].leak_class, LEAK_REACHABLE);
	free(result.answers);
	free(registers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_found_by_any_address_in_them),
		cmocka_unit_test_setup_teardown(
			what_data_stacks_and_registers_point_to_is_reachable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_lost_blocks_hold_is_lost_with_them, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_nobody_holds_has_one_leader, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			pointers_into_a_block_make_it_and_what_it_holds_possible, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(shapes_with_a_head_are_reachable_by_what_follows_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_array_of_nothing_is_reachable_by_where_it_ends,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_object_is_reachable_by_its_second_base, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_only_left_over_makes_a_leak_probable,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(padding_behind_a_block_is_not_the_program_s, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(memory_that_cannot_be_read_is_counted, set_up,
						tear_down),
		cmocka_unit_test(memory_that_was_never_touched_is_not_read),
		cmocka_unit_test(registers_of_very_many_threads_are_all_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
