/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/language_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "language/language.h"
#include "unwind/python_walk.h"

/* The loop is [100, 200); A and B are Python calls, C and D those that C code made. */
#define LOOP 150
#define A (PYTHON_WORD | 1)
#define B (PYTHON_WORD | 2)
#define C (PYTHON_WORD | PYTHON_WORD_ENTRY | 3)
#define D (PYTHON_WORD | PYTHON_WORD_ENTRY | 4)
#define MOST 8

/* Some loops call a function that does their work: [300, 400). */
#define INNER 350

static const struct language_range loops[] = {{.start = 100, .end = 200},
					      {.start = 300, .end = 400, .is_inner = true}};

struct merge_case {
	uint64_t pcs[MOST]; /* 0 ends them */
	uint64_t words[MOST];
	uint64_t merged[MOST];
};

static uint32_t length(const uint64_t *words)
{
	uint32_t n = 0;

	while (n < MOST && words[n] != 0)
		n++;
	return n;
}

static void expect(const struct merge_case *cases, size_t count, bool whole, bool only)
{
	for (size_t i = 0; i < count; i++) {
		struct language_merge merge = {.loops = loops,
					       .loop_count = 2,
					       .pcs = cases[i].pcs,
					       .count = length(cases[i].pcs),
					       .words = cases[i].words,
					       .word_count = length(cases[i].words),
					       .whole = whole,
					       .only = only};
		uint64_t merged[2 * MOST];

		assert_int_equal(language_merge(&merge, merged), length(cases[i].merged));
		assert_memory_equal(merged, cases[i].merged,
				    length(cases[i].merged) * sizeof(*merged));
	}
}

#define EXPECT(cases, whole, only) expect(cases, sizeof(cases) / sizeof((cases)[0]), whole, only)

static void each_loop_is_replaced_by_its_calls(void **state)
{
	static const struct merge_case cases[] = {
		{{LOOP, 9}, {C}, {C, 9}},
		{{LOOP, 9}, {A, B, C}, {A, B, C, 9}},
		{{5, LOOP, 6, LOOP, 7}, {A, C, B, D}, {5, A, C, 6, B, D, 7}},
		/* A call at the end of the loop returns to the address after it. */
		{{5, 200, 7}, {C}, {5, C, 7}},
		{{5, 100, 7}, {C}, {0}},
	};

	(void)state;
	EXPECT(cases, true, false);
}

static void calls_of_missing_frames_are_at_the_gap(void **state)
{
	static const uint64_t pcs[] = {LOOP, 5, LANGUAGE_MERGE_GAP, 6, LOOP, 7};
	static const uint64_t words[] = {A, C, D, B, D, C};
	static const uint64_t expected[] = {A, C, 5, D, B, D, LANGUAGE_MERGE_GAP, 6, C, 7};
	struct language_merge merge = {.loops = loops,
				       .loop_count = 2,
				       .pcs = pcs,
				       .count = sizeof(pcs) / sizeof(pcs[0]),
				       .words = words,
				       .word_count = sizeof(words) / sizeof(words[0]),
				       .whole = true};
	uint64_t merged[2 * MOST];

	(void)state;
	assert_int_equal(language_merge(&merge, merged), sizeof(expected) / sizeof(expected[0]));
	assert_memory_equal(merged, expected, sizeof(expected));
}

static void calls_of_a_stack_that_was_cut_before_its_loops_are_above_it(void **state)
{
	static const struct merge_case cut[] = {
		{{5, 6, 7}, {A, C}, {5, 6, 7, A, C}},
		{{5, 6, 7}, {0}, {0}},
	};
	static const uint64_t pcs[] = {5, LANGUAGE_MERGE_GAP, 7};
	static const uint64_t words[] = {A, C, D};
	static const uint64_t expected[] = {5, A, C, D, LANGUAGE_MERGE_GAP, 7};
	struct language_merge merge = {.loops = loops,
				       .loop_count = 2,
				       .pcs = pcs,
				       .count = 3,
				       .words = words,
				       .word_count = 3,
				       .whole = true};
	uint64_t merged[2 * MOST];

	(void)state;
	EXPECT(cut, false, false);
	assert_int_equal(language_merge(&merge, merged), sizeof(expected) / sizeof(expected[0]));
	assert_memory_equal(merged, expected, sizeof(expected));
}

static void the_function_that_works_for_a_loop_is_left_out(void **state)
{
	static const struct merge_case cases[] = {
		{{INNER, LOOP, 9}, {C}, {C, 9}},
		{{5, INNER, LOOP, 6, INNER, LOOP, 7}, {A, C, B, D}, {5, A, C, 6, B, D, 7}},
		/* The loop itself, between two instructions. */
		{{LOOP, 6, INNER, LOOP, 7}, {C, D}, {C, 6, D, 7}},
		/* It has just begun. */
		{{INNER, LOOP, 6, INNER, LOOP, 7}, {C}, {INNER, LOOP, 6, C, 7}},
		/* Called by something else, it is an ordinary function. */
		{{INNER, 6, LOOP, 7}, {C}, {INNER, 6, C, 7}},
	};

	(void)state;
	EXPECT(cases, true, false);
}

static void a_loop_that_has_just_begun_stays(void **state)
{
	static const struct merge_case cases[] = {
		{{LOOP, 6, LOOP, 7}, {A, C}, {LOOP, 6, A, C, 7}},
		{{LOOP, 7}, {0}, {LOOP, 7}},
	};

	(void)state;
	EXPECT(cases, true, false);
}

static void calls_without_a_loop_of_their_own_stay_in_order(void **state)
{
	static const struct merge_case cases[] = {
		{{5, LOOP, 7}, {A, C, B, D}, {5, A, C, B, D, 7}},
		{{5, 6, 7}, {A, C}, {0}},
	};

	(void)state;
	EXPECT(cases, true, false);
}

static void a_call_whose_loop_begins_later_is_the_leaf(void **state)
{
	static const struct language_range late = {.start = 100, .end = 200, .begins_late = true};
	static const uint64_t pcs[] = {5, LOOP, 7};
	static const uint64_t words[] = {C, B, D};
	static const uint64_t expected[] = {C, 5, B, D, 7};
	struct language_merge merge = {.loops = &late,
				       .loop_count = 1,
				       .pcs = pcs,
				       .count = 3,
				       .words = words,
				       .word_count = 3,
				       .whole = true};
	uint64_t merged[6];

	(void)state;
	assert_int_equal(language_merge(&merge, merged), 5);
	assert_memory_equal(merged, expected, sizeof(expected));
}

static void what_lacks_its_root_is_matched_from_the_leaf(void **state)
{
	static const struct merge_case cases[] = {
		{{5, LOOP, 6}, {C, B, D}, {5, C, 6, B, D}},
		{{5, LOOP, 6, LOOP, 7}, {A, C}, {5, A, C, 6, LOOP, 7}},
	};

	(void)state;
	EXPECT(cases, false, false);
}

static void native_frames_can_be_left_out(void **state)
{
	static const struct merge_case cases[] = {
		{{5, LOOP, 6, LOOP, 7}, {A, C, B, D}, {A, C, B, D}},
	};

	(void)state;
	EXPECT(cases, true, true);
}

static bool fits(const struct merge_case *one, bool whole)
{
	struct language_merge merge = {.loops = loops,
				       .loop_count = 2,
				       .pcs = one->pcs,
				       .count = length(one->pcs),
				       .words = one->words,
				       .word_count = length(one->words),
				       .whole = whole};

	return language_merge_fits(&merge);
}

static void calls_of_another_moment_do_not_fit(void **state)
{
	const struct merge_case same = {{LOOP, 1, LOOP, 2}, {A, C, D}, {0}};
	const struct merge_case begins = {{LOOP, 1, LOOP, 2}, {B, D}, {0}};
	const struct merge_case shallow = {{LOOP, 1, LOOP, 1, LOOP, 2}, {B, D}, {0}};
	const struct merge_case deep = {{LOOP, 2}, {C, C, D}, {0}};
	const struct merge_case native = {{1, 2}, {D}, {0}};

	(void)state;
	assert_true(fits(&same, true));
	assert_true(fits(&begins, true));
	assert_false(fits(&shallow, true));
	assert_false(fits(&deep, true));
	assert_true(fits(&deep, false)); /* the rest of the native stack is unknown */
	assert_false(fits(&shallow, false));
	assert_false(fits(&native, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_loop_is_replaced_by_its_calls),
		cmocka_unit_test(calls_of_missing_frames_are_at_the_gap),
		cmocka_unit_test(calls_of_a_stack_that_was_cut_before_its_loops_are_above_it),
		cmocka_unit_test(the_function_that_works_for_a_loop_is_left_out),
		cmocka_unit_test(a_loop_that_has_just_begun_stays),
		cmocka_unit_test(calls_without_a_loop_of_their_own_stay_in_order),
		cmocka_unit_test(a_call_whose_loop_begins_later_is_the_leaf),
		cmocka_unit_test(what_lacks_its_root_is_matched_from_the_leaf),
		cmocka_unit_test(native_frames_can_be_left_out),
		cmocka_unit_test(calls_of_another_moment_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
