/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "imported.h"

static const char maps[] = "00400000-00500000 r-xp 00000000 08:01 77 /nowhere/app\n"
			   "00500000-00600000 rw-p 00100000 08:01 77 /nowhere/app\n"
			   "7f0000000000-7f0000100000 r-xp 00000000 08:01 78 /nowhere/liba.so\n";

/* Words of a CPU profile in a machine's form. */
static void put_words(struct bytes *out, const uint64_t *words, size_t count, size_t size, bool big)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < size; k++)
			bytes_put_u8(out, (uint8_t)(words[i] >> 8 * (big ? size - 1 - k : k)));
}

static const uint64_t head[] = {0, 3, 0, 10000, 0};
static const uint64_t stacks[] = {
	2, 2, 0x401000, 0x402000,           /* twice: leaf, main */
	1, 3, 0x401000, 0x401000, 0x402000, /* the leaf told twice */
	5, 1, 0x403000,                     /* one frame */
};
static const uint64_t end_mark[] = {0, 1, 0};

static void cpu_profiles_of_every_machine_are_read(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		size_t size = form < 2 ? 8 : 4;
		bool big = form % 2;
		struct bytes out = {0};

		put_words(&out, head, ARRAY_SIZE(head), size, big);
		put_words(&out, stacks, ARRAY_SIZE(stacks), size, big);
		put_words(&out, end_mark, ARRAY_SIZE(end_mark), size, big);
		bytes_put(&out, maps, strlen(maps));
		assert_imported_bytes(out.data, out.size,
				      "app;app+0x1fff;app+0x1000 3\napp;app+0x3000 5\n");
		bytes_fini(&out);
	}
}

static void a_cpu_profile_that_was_cut_keeps_its_whole_stacks(void **state)
{
	struct bytes out = {0};

	(void)state;
	put_words(&out, head, ARRAY_SIZE(head), 8, false);
	put_words(&out, stacks, 5, 8, false); /* one, and a part of the next */
	assert_imported_bytes(
		out.data, out.size,
		"[unnamed];<invalid address 0x401fff>;<invalid address 0x401000> 2\n");
	bytes_fini(&out);
}

static void a_cpu_profile_of_java_and_a_wild_depth_are_refused(void **state)
{
	static const uint64_t java[] = {0, 3, 1, 10000, 0, 1, 1, 7, 0, 1, 0};
	static const uint64_t deep[] = {0, 3, 0, 10000, 0, 1, UINT64_MAX, 7};
	struct error err = {0};
	struct bytes out = {0};

	(void)state;
	put_words(&out, java, ARRAY_SIZE(java), 8, false);
	assert_true(run(out.data, out.size, NULL, &err) < 0);
	assert_non_null(strstr(err.text, "a Java CPU profile"));
	bytes_clear(&out);
	put_words(&out, deep, ARRAY_SIZE(deep), 8, false);
	assert_true(run(out.data, out.size, NULL, &err) < 0);
	assert_non_null(strstr(err.text, "invalid number of frames"));
	bytes_fini(&out);
}

/* Sums of an imported text by event. */
static void assert_sums(const char *text, const char *const *names, const uint64_t *sums,
			size_t count)
{
	struct profile *profile = NULL;
	struct error err = {0};

	if (run(text, strlen(text), &profile, &err) != 1)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(sum_of(profile, names[i], NULL), sums[i]);
	profile_free(profile);
}

static void a_heap_profile_has_what_is_live_and_all_that_was_made(void **state)
{
	static const char text[] =
		"heap profile:      3:      300 [     9:     2700] @ heapprofile\n"
		"     2:      200 [     5:     1500] @ 0x401001 0x402001\n"
		"     1:      100 [     4:     1200] @ 0x401001 0x403001\n"
		"\n"
		"MAPPED_LIBRARIES:\n"
		"00400000-00500000 r-xp 00000000 08:01 77 /nowhere/app\n";
	static const char *const names[] = {"inuse_space", "inuse_objects", "alloc_space",
					    "alloc_objects"};

	(void)state;
	assert_sums(text, names, (const uint64_t[]){300, 3, 2700, 9}, 4);
	/* The leaf is a return address, too. */
	assert_imported(text, "app;app+0x2000;app+0x1000 200\napp;app+0x3000;app+0x1000 100\n");
}

static void sampled_blocks_count_for_those_that_were_missed(void **state)
{
	static const char *const names[] = {"inuse_space", "inuse_objects"};

	(void)state;
	/* 1 / (1 - exp(-512 / 1024)) is 2.5415. */
	assert_sums("heap profile: 10: 5120 [10: 5120] @ heap_v2/1024\n"
		    "  10: 5120 [10: 5120] @ 0x401001\n",
		    names, (const uint64_t[]){13012, 25}, 2);
	assert_sums("heap_v2/1024\n  t*: 10: 5120 [0: 0]\n  t0: 10: 5120 [0: 0]\n"
		    "@ 0x401001 0x402001\n  t*: 10: 5120 [0: 0]\n  t0: 10: 5120 [0: 0]\n"
		    "\nMAPPED_LIBRARIES:\n",
		    names, (const uint64_t[]){13012, 25}, 2);
}

static void growth_and_contention_are_read(void **state)
{
	static const char *const growth[] = {"growth_space", "growth_objects"};
	static const char *const waits[] = {"delay", "contentions"};

	(void)state;
	assert_sums("heap profile: 2: 4096 [2: 4096] @ growthz\n"
		    " 1: 2048 [1: 2048] @ 0x401001\n 1: 2048 [1: 2048] @ 0x401002\n",
		    growth, (const uint64_t[]){4096, 2}, 2);
	assert_sums("--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\n"
		    "ms since reset = 5\ndiscarded samples = 0\n"
		    "  4000 3 @ 0x401001 0x402001\n--- Memory map: ---\n"
		    "  00400000-00500000: /nowhere/app\n",
		    waits, (const uint64_t[]){200000, 300}, 2);
}

/* Cuts text behind what, and compares what is left of it. */
static void assert_cut(const char *text, const char *what, const char *expected, bool is_cut)
{
	size_t size = (size_t)(strstr(text, what) - text) + strlen(what);
	struct profile *profile = NULL;
	struct error err = {0};

	assert_imported_bytes(text, size, expected);
	if (run(text, size, &profile, &err) != 1)
		fail_msg("%s", err.text);
	assert_int_equal(profile->quality.incomplete, is_cut);
	profile_free(profile);
}

static void a_text_that_was_cut_keeps_its_whole_stacks(void **state)
{
	static const char heap[] = "heap profile: 3: 300 [3: 300] @ heapprofile\n"
				   " 2: 200 [2: 200] @ 0x401001 0x402001\n"
				   " 1: 100 [1: 100] @ 0x401001 0x403001\n"
				   "MAPPED_LIBRARIES:\n"
				   "00400000-00500000 r-xp 00000000 08:01 77 /nowhere/app\n";
	static const char jemalloc[] = "heap_v2/1\n  t*: 3: 300 [0: 0]\n"
				       "@ 0x401001\n  t*: 1: 100 [0: 0]\n"
				       "@ 0x402001\n  t*: 2: 200 [0: 0]\n";
	static const char one[] =
		"[unnamed];<invalid address 0x402000>;<invalid address 0x401000> 200\n";
	static const char two[] =
		"[unnamed];<invalid address 0x402000>;<invalid address 0x401000> 200\n"
		"[unnamed];<invalid address 0x403000>;<invalid address 0x401000> 100\n";

	(void)state;
	assert_cut(heap, "0x4030", one, true);
	assert_cut(heap, " 1: 10", one, true);
	assert_cut(heap, "0x402001\n", one, false);
	assert_cut(heap, "0x403001\nMAPPED", two, true);
	assert_cut(heap, "/app\n", "app;app+0x2000;app+0x1000 200\napp;app+0x3000;app+0x1000 100\n",
		   false);
	assert_cut(heap, "/nowh", two, true);
	assert_cut(jemalloc, "t*: 2: 20", "[unnamed];<invalid address 0x401000> 100\n", true);
}

static void the_short_form_of_maps_names_modules(void **state)
{
	(void)state;
	assert_imported("--- contention:\n  7 1 @ 0x401001\n--- Memory map: ---\n"
			"\tsource=/home\n  00400000-00500000: /nowhere/app\n",
			"app;app+0x1000 1\n");
}

static void lines_that_make_no_sense_are_named(void **state)
{
	static const char *const cases[] = {
		"heap profile: 1: 2 [3: 4] @ heapprofile\n 1: 2 [3: 4] 0x1\n",
		"heap profile: 1: 2 [3: 4] @ heapprofile\n -1: 2 [3: 4] @ 0x1\n",
		"heap profile: 1: 2 [3: 4] @ heapprofile\n 1: 2 [3: 4] @ 0x1 main\n",
		"--- contention:\n  7 @ 0x401001\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};

		assert_true(run(cases[i], strlen(cases[i]), NULL, &err) < 0);
		assert_non_null(strstr(err.text, "x.in, read as gperftools-text: line 2 "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_profiles_of_every_machine_are_read),
		cmocka_unit_test(a_cpu_profile_that_was_cut_keeps_its_whole_stacks),
		cmocka_unit_test(a_cpu_profile_of_java_and_a_wild_depth_are_refused),
		cmocka_unit_test(a_heap_profile_has_what_is_live_and_all_that_was_made),
		cmocka_unit_test(sampled_blocks_count_for_those_that_were_missed),
		cmocka_unit_test(growth_and_contention_are_read),
		cmocka_unit_test(a_text_that_was_cut_keeps_its_whole_stacks),
		cmocka_unit_test(the_short_form_of_maps_names_modules),
		cmocka_unit_test(lines_that_make_no_sense_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
