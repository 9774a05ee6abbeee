/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/linker_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/vec.h"

struct shown {
	const char *name;
	const char *text;
};

static void assert_shown(const struct shown *cases, size_t count, bool merge_clones)
{
	struct linker_name_style style = {.demangle = true, .merge_clones = merge_clones};

	for (size_t i = 0; i < count; i++) {
		char *text = linker_name_show(cases[i].name, style);

		assert_non_null(text);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void parts_and_copies_of_a_function_bear_its_name(void **state)
{
	static const struct shown cases[] = {
		{"parse.cold", "parse"},
		{"parse.cold.3", "parse"},
		{"parse.part.0", "parse"},
		{"parse.isra.0.cold", "parse"},
		{"parse.constprop.12", "parse"},
		{"parse.part.0.constprop.0.isra.0", "parse"},
		{"parse.llvm.1234567890123456789", "parse"},
		{"parse.__uniq.98765.llvm.123", "parse"},
		{"parse.lto_priv.0", "parse"},
		{"parse.localalias", "parse"},
		{"_Z3addii.cold", "add(int, int)"},
		{"_ZN3app4main17h0123456789abcdefE.llvm.77", "app::main"},
	};

	(void)state;
	assert_shown(cases, ARRAY_SIZE(cases), true);
}

static void other_dots_belong_to_the_name(void **state)
{
	static const struct shown cases[] = {
		{"work._omp_fn.0", "work._omp_fn.0"},
		{"sum.avx2", "sum.avx2"},
		{"main.parse", "main.parse"},
		{".cold", ".cold"},
		{"a.part", "a.part"},
		{"a.part.", "a.part."},
		{"a.part.0x", "a.part.0x"},
		{"parse.0", "parse.0"},
		{"", ""},
		{".", "."},
	};

	(void)state;
	assert_shown(cases, ARRAY_SIZE(cases), true);
}

static void versions_go_and_the_linkage_table_stays(void **state)
{
	static const struct shown cases[] = {
		{"memcpy@@GLIBC_2.17", "memcpy"},
		{"memcpy@GLIBC_2.4", "memcpy"},
		{"malloc@plt", "malloc@plt"},
		{"_Z3addii@plt", "add(int, int)@plt"},
		{"memcpy@ifunc", "memcpy@ifunc"},
		{"*ABS*+0x1234@plt", "*ABS*+0x1234@plt"},
		{"@odd", "@odd"},
	};

	(void)state;
	assert_shown(cases, ARRAY_SIZE(cases), false);
	assert_shown(cases, ARRAY_SIZE(cases), true);
}

static void bpf_programs_are_shown_by_their_own_name(void **state)
{
	static const struct shown cases[] = {
		{"bpf_prog_6deef7357e7b4530_sched_switch", "bpf:sched_switch"},
		{"bpf_prog_6deef7357e7b4530_", "bpf_prog_6deef7357e7b4530_"},
		{"bpf_prog_6deef7357e7b4530", "bpf:6deef7357e7b4530"},
		{"bpf_prog_array_map_free", "bpf_prog_array_map_free"},
		{"bpf_prog_6deef7357e7b45301", "bpf_prog_6deef7357e7b45301"},
		{"vfs_read.cold", "vfs_read"},
		{"_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = linker_name_show_kernel(cases[i].name,
						     (struct linker_name_style){true, true});

		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void clones_are_told_apart_when_asked(void **state)
{
	static const struct shown cases[] = {
		{"parse.cold", "parse.cold"},
		{"_Z3addii.cold", "add(int, int) [clone .cold]"},
	};

	(void)state;
	assert_shown(cases, ARRAY_SIZE(cases), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_and_copies_of_a_function_bear_its_name),
		cmocka_unit_test(other_dots_belong_to_the_name),
		cmocka_unit_test(versions_go_and_the_linkage_table_stays),
		cmocka_unit_test(bpf_programs_are_shown_by_their_own_name),
		cmocka_unit_test(clones_are_told_apart_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
