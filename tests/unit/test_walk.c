/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/arch/x86_64.h"
#include "unwind/walk.h"

#define STACK 0x7ff000000000ull
#define BIAS 0x10000000ull

static const struct unwind_row rows[] = {
	{.pc = 0x000, .rule = 1}, {.pc = 0x010, .rule = 2}, {.pc = 0x020, .rule = 1},
	{.pc = 0x100, .rule = 2}, {.pc = 0x5fe, .rule = 0}, {.pc = 0x700, .rule = 3},
	{.pc = 0x710, .rule = 0}, {.pc = 0x800, .rule = 4}, {.pc = 0x810, .rule = 0},
};
static const struct unwind_rule rules[] = {
	{0},
	{.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8},
	{.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8},
	{.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT},
	{.cfa = UNWIND_CFA_SIGNAL},
};
static const struct unwind_table table = {.rows = rows,
					  .rules = rules,
					  .row_count = 9,
					  .rule_count = 5,
					  .base = 0x1000,
					  .machine = 62};
static uint64_t words[32];
static size_t word_count = 16;

static bool read_words(void *context, uint64_t address, uint64_t *ret)
{
	if (address < STACK || address >= STACK + word_count * sizeof(words[0]))
		return false;
	*ret = words[(address - STACK) / 8];
	return true;
}

/* Walks from an offset of the code, with pages or without. */
static struct unwind_trace walk(uint64_t offset, const uint32_t *pages, uint32_t capacity)
{
	static uint64_t pcs[16];
	const struct unwind_module modules[] = {
		{.start = 0x5000, .end = 0x6000},
		{.start = BIAS + 0x1000,
		 .end = BIAS + 0x2000,
		 .bias = BIAS,
		 .table = &table,
		 .pages = pages},
	};
	const struct unwind_space space = {
		.limits = {.arch = &unwind_x86_64, .stack = {STACK, STACK + sizeof(words)}},
		.reader = {.read = read_words},
		.modules = modules,
		.module_count = 2,
	};
	const struct unwind_frame frame = {
		.pc = BIAS + 0x1000 + offset, .sp = STACK, .exact = true};
	struct unwind_trace trace = {.pcs = pcs, .capacity = capacity};

	unwind_walk(&space, &frame, &trace);
	return trace;
}

static void pages_find_what_a_search_finds(void **state)
{
	uint32_t pages[64];
	struct unwind_module plain = {.table = &table, .bias = BIAS};
	struct unwind_module paged = {.table = &table, .bias = BIAS, .pages = pages};

	assert_in_range(unwind_pages_count(&table), 1, 64);
	unwind_pages_fill(&table, pages);
	for (uint64_t pc = BIAS + 0xf00; pc < BIAS + 0x1900; pc++)
		assert_ptr_equal(unwind_module_rule(&plain, pc), unwind_module_rule(&paged, pc));
}

static void modules_are_found_by_their_ranges(void **state)
{
	const struct unwind_module modules[] = {
		{.start = 10, .end = 20}, {.start = 20, .end = 30}, {.start = 50, .end = 60}};

	for (uint64_t pc = 0; pc < 70; pc++) {
		const struct unwind_module *found = unwind_module_find(modules, 3, pc);
		const struct unwind_module *expected = pc >= 10 && pc < 20   ? &modules[0]
						       : pc >= 20 && pc < 30 ? &modules[1]
						       : pc >= 50 && pc < 60 ? &modules[2]
									     : NULL;

		assert_ptr_equal(found, expected);
	}
	assert_null(unwind_module_find(modules, 0, 15));
}

static void a_walk_looks_at_the_call_and_not_behind_it(void **state)
{
	words[0] = BIAS + 0x1100; /* returns to the first byte of another rule's code */
	words[1] = BIAS + 0x1704;
	struct unwind_trace trace = walk(0x20, NULL, 16);

	assert_int_equal(trace.end, UNWIND_ROOT);
	assert_int_equal(trace.count, 3);
	assert_int_equal(trace.pcs[1], BIAS + 0x1100);
	assert_int_equal(trace.pcs[2], BIAS + 0x1704);
}

static void what_a_signal_interrupted_is_stored_like_a_return_address(void **state)
{
	word_count = 32;
	words[0] = BIAS + 0x1804; /* the handler returns to the trampoline, sp at words[1] */
	words[1 + 160 / 8] = STACK + 24 * sizeof(words[0]);
	words[1 + 168 / 8] = BIAS + 0x1100; /* the first instruction of a function */
	words[26] = BIAS + 0x1704;
	struct unwind_trace trace = walk(0x20, NULL, 16);

	assert_int_equal(trace.end, UNWIND_ROOT);
	assert_int_equal(trace.count, 4);
	assert_int_equal(trace.pcs[0], BIAS + 0x1020);
	assert_int_equal(trace.pcs[1], BIAS + 0x1805);
	assert_int_equal(trace.pcs[2], BIAS + 0x1101);
	assert_int_equal(trace.pcs[3], BIAS + 0x1704);
	word_count = 16;
}

static void each_end_has_its_reason(void **state)
{
	words[0] = 0x7000; /* no module */
	assert_int_equal(walk(0x20, NULL, 16).end, UNWIND_BAD_ADDRESS);
	words[0] = BIAS + 0x1030;
	words[1] = BIAS + 0x1030;
	assert_int_equal(walk(0x20, NULL, 2).end, UNWIND_DEPTH);
	for (size_t i = 0; i < 16; i++)
		words[i] = BIAS + 0x1030;
	assert_int_equal(walk(0x20, NULL, 16).end, UNWIND_DEPTH);
	words[0] = BIAS + 0x1200;
	words[3] = BIAS + 0x1200;
	words[6] = BIAS + 0x1200;
	words[9] = BIAS + 0x1200;
	words[12] = BIAS + 0x1200;
	words[15] = BIAS + 0x1200;
	assert_int_equal(walk(0x20, NULL, 16).end, UNWIND_UNREADABLE);
	assert_int_equal(walk(0x5fe, NULL, 16).end, UNWIND_ROOT); /* no rule and fp is zero */
}

static void every_end_has_a_name(void **state)
{
	for (int end = 0; end < UNWIND_ENDS; end++)
		assert_non_null(unwind_end_name((enum unwind_end)end));
	assert_string_equal(unwind_end_name(UNWIND_ROOT), "root");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_find_what_a_search_finds),
		cmocka_unit_test(modules_are_found_by_their_ranges),
		cmocka_unit_test(a_walk_looks_at_the_call_and_not_behind_it),
		cmocka_unit_test(what_a_signal_interrupted_is_stored_like_a_return_address),
		cmocka_unit_test(each_end_has_its_reason),
		cmocka_unit_test(every_end_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
