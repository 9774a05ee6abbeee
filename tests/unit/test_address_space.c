/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/entity.h"
#include "proc/address_space.h"

static void map(struct address_space *space, uint64_t time_ns, uint64_t start, uint64_t end,
		uint32_t module)
{
	/* Distinct biases and offsets, so that a mix-up of regions shows. */
	const struct address_mapping mapping = {
		.start = start,
		.end = end,
		.bias = start - 0x100 * module,
		.file_offset = 0x1000 * module,
		.module = module,
	};

	assert_int_equal(address_space_map(space, time_ns, &mapping), 0);
}

static uint32_t module_at(const struct address_space *space, uint64_t time_ns, uint64_t address)
{
	struct address_hit hit;

	(void)address_space_resolve(space, time_ns, address, &hit);
	return hit.module;
}

static void an_address_resolves_to_vaddr_and_file_offset(void **state)
{
	struct address_space *space = address_space_new();
	struct address_hit hit;

	map(space, 10, 0x10000, 0x20000, 3);
	assert_true(address_space_resolve(space, ADDRESS_SPACE_NOW, 0x10042, &hit));
	assert_int_equal(hit.module, 3);
	assert_int_equal(hit.vaddr, 0x342);
	assert_int_equal(hit.file_offset, 0x3042);
	address_space_free(space);
}

static void an_unknown_address_keeps_its_raw_value(void **state)
{
	struct address_space *space = address_space_new();
	struct address_hit hit;

	assert_false(address_space_resolve(space, 5, 0x1234, &hit));
	map(space, 10, 0x10000, 0x20000, 3);
	assert_false(address_space_resolve(space, ADDRESS_SPACE_NOW, 0x20000, &hit));
	assert_int_equal(hit.module, MODULE_NONE);
	assert_int_equal(hit.vaddr, 0x20000);
	address_space_free(space);
}

static void a_mapping_inside_another_splits_it(void **state)
{
	struct address_space *space = address_space_new();
	struct address_hit hit;
	size_t count;

	map(space, 10, 0x10000, 0x50000, 1);
	map(space, 20, 0x20000, 0x30000, 2);
	(void)address_space_regions(space, &count);
	assert_int_equal(count, 3);
	assert_int_equal(module_at(space, 20, 0x1ffff), 1);
	assert_int_equal(module_at(space, 20, 0x20000), 2);
	assert_int_equal(module_at(space, 20, 0x30000), 1);
	/* The right part still counts its offsets from where the whole began. */
	assert_true(address_space_resolve(space, 20, 0x30008, &hit));
	assert_int_equal(hit.file_offset, 0x1000 + 0x20008);
	assert_int_equal(module_at(space, 19, 0x20000), 1);
	address_space_free(space);
}

static void a_mapping_over_several_replaces_and_trims_them(void **state)
{
	struct address_space *space = address_space_new();

	map(space, 10, 0x10000, 0x20000, 1);
	map(space, 10, 0x20000, 0x30000, 2);
	map(space, 10, 0x40000, 0x50000, 3);
	map(space, 20, 0x18000, 0x48000, 4);
	assert_int_equal(module_at(space, 20, 0x17fff), 1);
	assert_int_equal(module_at(space, 20, 0x18000), 4);
	assert_int_equal(module_at(space, 20, 0x38000), 4);
	assert_int_equal(module_at(space, 20, 0x48000), 3);
	assert_int_equal(module_at(space, 10, 0x38000), MODULE_NONE);
	assert_int_equal(module_at(space, 10, 0x28000), 2);
	address_space_free(space);
}

static void a_reused_address_means_what_was_there_at_the_time(void **state)
{
	struct address_space *space = address_space_new();

	map(space, 10, 0x10000, 0x20000, 1);
	assert_int_equal(address_space_unmap(space, 20, 0x10000, 0x20000), 0);
	map(space, 30, 0x10000, 0x20000, 2);
	assert_int_equal(module_at(space, 9, 0x10000), MODULE_NONE);
	assert_int_equal(module_at(space, 10, 0x10000), 1);
	assert_int_equal(module_at(space, 19, 0x10000), 1);
	assert_int_equal(module_at(space, 20, 0x10000), MODULE_NONE);
	assert_int_equal(module_at(space, 29, 0x10000), MODULE_NONE);
	assert_int_equal(module_at(space, 30, 0x10000), 2);
	assert_int_equal(module_at(space, ADDRESS_SPACE_NOW, 0x10000), 2);
	address_space_free(space);
}

static void exec_clears_the_present_and_keeps_the_past(void **state)
{
	struct address_space *space = address_space_new();

	map(space, 0, 0x10000, 0x20000, 1);
	map(space, 5, UINT64_MAX - 0x1000, UINT64_MAX, 2);
	assert_int_equal(address_space_clear(space, 10), 0);
	map(space, 11, 0x10000, 0x18000, 3);
	assert_int_equal(module_at(space, 10, 0x10000), MODULE_NONE);
	assert_int_equal(module_at(space, 10, UINT64_MAX - 1), MODULE_NONE);
	assert_int_equal(module_at(space, 9, 0x10000), 1);
	assert_int_equal(module_at(space, 9, UINT64_MAX - 1), 2);
	assert_int_equal(module_at(space, 12, 0x10000), 3);
	assert_int_equal(module_at(space, 12, 0x18000), MODULE_NONE);
	address_space_free(space);
}

static void a_forked_child_goes_its_own_way(void **state)
{
	struct address_space *parent = address_space_new();

	map(parent, 10, 0x10000, 0x20000, 1);
	struct address_space *child = address_space_fork(parent, 20);
	assert_non_null(child);
	map(child, 30, 0x10000, 0x20000, 2);
	assert_int_equal(address_space_unmap(parent, 40, 0x10000, 0x20000), 0);
	assert_int_equal(module_at(child, 29, 0x10000), 1);
	assert_int_equal(module_at(child, 50, 0x10000), 2);
	assert_int_equal(module_at(parent, 39, 0x10000), 1);
	assert_int_equal(module_at(parent, 50, 0x10000), MODULE_NONE);
	address_space_free(parent);
	assert_int_equal(module_at(child, 50, 0x10000), 2);
	address_space_free(child);
}

static void a_fork_told_late_takes_the_state_of_its_time(void **state)
{
	struct address_space *parent = address_space_new();

	map(parent, 10, 0x10000, 0x20000, 1);
	map(parent, 10, 0x30000, 0x40000, 2);
	assert_int_equal(address_space_clear(parent, 20), 0);
	map(parent, 21, 0x18000, 0x38000, 3);
	struct address_space *child = address_space_fork(parent, 15);
	assert_int_equal(module_at(child, ADDRESS_SPACE_NOW, 0x18000), 1);
	assert_int_equal(module_at(child, ADDRESS_SPACE_NOW, 0x20000), MODULE_NONE);
	assert_int_equal(module_at(child, ADDRESS_SPACE_NOW, 0x30000), 2);
	address_space_free(child);
	address_space_free(parent);
}

static void each_change_makes_a_generation_and_no_change_makes_none(void **state)
{
	struct address_space *space = address_space_new();

	assert_int_equal(address_space_generation(space), 0);
	map(space, 0, 0x10000, 0x20000, 1);
	map(space, 10, 0x30000, 0x40000, 2);
	map(space, 11, 0x30000, 0x40000, 2);
	assert_int_equal(address_space_unmap(space, 12, 0x50000, 0x60000), 0);
	assert_int_equal(address_space_unmap(space, 13, 0x30000, 0x31000), 0);
	assert_int_equal(address_space_generation(space), 3);
	assert_int_equal(address_space_generation_at(space, 9), 1);
	assert_int_equal(address_space_generation_at(space, 12), 2);
	assert_int_equal(address_space_generation_at(space, 13), 3);
	address_space_free(space);
}

static void a_late_change_takes_the_time_of_the_last_one(void **state)
{
	struct address_space *space = address_space_new();

	map(space, 100, 0x10000, 0x20000, 1);
	map(space, 50, 0x10000, 0x20000, 2);
	assert_int_equal(module_at(space, 99, 0x10000), MODULE_NONE);
	assert_int_equal(module_at(space, 100, 0x10000), 2);
	address_space_free(space);
}

static void an_empty_region_is_refused(void **state)
{
	struct address_space *space = address_space_new();
	const struct address_mapping mapping = {.start = 0x2000, .end = 0x2000};

	assert_int_equal(address_space_map(space, 1, &mapping), -EINVAL);
	assert_int_equal(address_space_unmap(space, 1, 2, 1), -EINVAL);
	assert_int_equal(address_space_generation(space), 0);
	address_space_free(space);
}

static void a_batch_gives_what_single_questions_give(void **state)
{
	struct address_space *space = address_space_new();
	uint64_t addresses[64];
	struct address_hit hits[64];

	for (uint32_t i = 0; i < 200; i++)
		map(space, 1 + i / 2, 0x1000 * (1 + i * 7 % 31), 0x1000 * (3 + i * 7 % 31), i);
	for (size_t i = 0; i < 64; i++)
		addresses[i] = 0x800 * (i * 5 % 71);
	for (uint64_t time_ns = 0; time_ns < 110; time_ns += 9) {
		size_t found = address_space_resolve_batch(space, time_ns, addresses, 64, hits);
		size_t singles = 0;

		for (size_t i = 0; i < 64; i++) {
			struct address_hit hit;

			singles += address_space_resolve(space, time_ns, addresses[i], &hit);
			assert_int_equal(hit.module, hits[i].module);
			assert_int_equal(hit.vaddr, hits[i].vaddr);
		}
		assert_int_equal(found, singles);
	}
	address_space_free(space);
}

static void memory_grows_with_the_changes_only(void **state)
{
	struct address_space *space = address_space_new();

	for (uint32_t i = 0; i < 4000; i++)
		map(space, 0, 0x10000 * (i + 1ull), 0x10000 * (i + 1ull) + 0x8000, i);
	size_t base = address_space_memory_bytes(space);
	for (uint32_t i = 0; i < 10000; i++)
		map(space, 1 + i, 0x10000, 0x18000, i & 1 ? 1 : 2);
	size_t grown = address_space_memory_bytes(space) - base;
	assert_true(grown / 10000 < 1200);
	address_space_free(space);
}

/*
 * The naive model: one word for each page and generation. Random changes and
 * questions about random times must agree with it.
 */
enum { PAGES = 48, STEPS = 1500 };

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*seed >> 33) % limit);
}

static void apply_random(struct address_space *space, uint32_t *pages, uint64_t time_ns,
			 uint64_t *seed)
{
	uint32_t first = random_below(seed, PAGES);
	uint32_t end = first + 1 + random_below(seed, PAGES - first);
	uint32_t what = random_below(seed, 100);
	uint32_t module = what < 60 ? random_below(seed, 5) : MODULE_NONE;

	if (what == 99) {
		first = 0;
		end = PAGES;
		assert_int_equal(address_space_clear(space, time_ns), 0);
	} else if (module == MODULE_NONE) {
		assert_int_equal(address_space_unmap(space, time_ns, first * 0x1000, end * 0x1000),
				 0);
	} else {
		map(space, time_ns, first * 0x1000, end * 0x1000, module);
	}
	for (uint32_t i = first; i < end; i++)
		pages[i] = module;
}

/* The batch goes through all pages twice, so that neighbours share regions. */
static void check_batch(const struct address_space *space, uint64_t time_ns, const uint32_t *pages)
{
	uint64_t addresses[2 * PAGES];
	struct address_hit hits[2 * PAGES];

	for (uint32_t i = 0; i < 2 * PAGES; i++)
		addresses[i] = i * 0x800;
	(void)address_space_resolve_batch(space, time_ns, addresses, 2 * PAGES, hits);
	for (uint32_t i = 0; i < 2 * PAGES; i++)
		assert_int_equal(hits[i].module, pages[i / 2]);
}

static void random_histories_agree_with_a_naive_model(void **state)
{
	static uint32_t model[STEPS + 1][PAGES];

	for (uint64_t round = 1; round <= 12; round++) {
		struct address_space *space = address_space_new();
		uint64_t seed = round * 77;

		memset(model[0], 0xff, sizeof(model[0]));
		for (uint32_t step = 1; step <= STEPS; step++) {
			memcpy(model[step], model[step - 1], sizeof(model[0]));
			for (uint32_t n = random_below(&seed, 3); n > 0; n--)
				apply_random(space, model[step], step, &seed);
			uint32_t time_ns = random_below(&seed, step + 1);

			check_batch(space, time_ns, model[time_ns]);
			for (uint32_t page = 0; page < PAGES; page++) {
				uint64_t address = page * 0x1000 + random_below(&seed, 0x1000);

				assert_int_equal(module_at(space, time_ns, address),
						 model[time_ns][page]);
				assert_int_equal(module_at(space, ADDRESS_SPACE_NOW, address),
						 model[step][page]);
			}
		}
		uint32_t when = random_below(&seed, STEPS);
		struct address_space *child = address_space_fork(space, when);
		for (uint32_t page = 0; page < PAGES; page++)
			assert_int_equal(module_at(child, 0, page * 0x1000), model[when][page]);
		address_space_free(child);
		address_space_free(space);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_resolves_to_vaddr_and_file_offset),
		cmocka_unit_test(an_unknown_address_keeps_its_raw_value),
		cmocka_unit_test(a_mapping_inside_another_splits_it),
		cmocka_unit_test(a_mapping_over_several_replaces_and_trims_them),
		cmocka_unit_test(a_reused_address_means_what_was_there_at_the_time),
		cmocka_unit_test(exec_clears_the_present_and_keeps_the_past),
		cmocka_unit_test(a_forked_child_goes_its_own_way),
		cmocka_unit_test(a_fork_told_late_takes_the_state_of_its_time),
		cmocka_unit_test(each_change_makes_a_generation_and_no_change_makes_none),
		cmocka_unit_test(a_late_change_takes_the_time_of_the_last_one),
		cmocka_unit_test(an_empty_region_is_refused),
		cmocka_unit_test(a_batch_gives_what_single_questions_give),
		cmocka_unit_test(memory_grows_with_the_changes_only),
		cmocka_unit_test(random_histories_agree_with_a_naive_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
