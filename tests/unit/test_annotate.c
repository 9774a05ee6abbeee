/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/annotate/annotate.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "view/annotate/disassembly.h"
#include "view/function_match.h"

/* A stack main:10 → work:LINE, into which inner:50 may be inlined. */
static void add(struct profile *profile, uint32_t line, bool inlined, int64_t samples)
{
	struct profile_line caller = {make_function(profile, "main"), 10};
	struct profile_line lines[2] = {{make_function(profile, "work(int)"), line},
					{make_function(profile, "inner"), 50}};
	uint32_t stack = stack_tree_child(
		&profile->stacks, 0, profile_location(profile, "/nowhere/app", 0x10, &caller, 1));

	stack = stack_tree_child(
		&profile->stacks, stack,
		profile_location(profile, "/nowhere/app", 0x100 + line, lines, inlined ? 2 : 1));
	assert_int_equal(
		profile_add(profile, stack, 0, (int64_t[]){samples, samples * MAKE_PERIOD_NS}), 0);
	profile->quality.samples += (uint64_t)samples;
}

static struct profile *make_work(void)
{
	struct profile *profile = make_profile();

	add(profile, 20, false, 1);
	add(profile, 22, true, 6);
	make_stack(profile, 0, "main;work(int);sys_read", 1);
	make_stack(profile, 0, "main;other\x1b[31m", 2);
	return profile;
}

static void assert_annotated(const char *pattern, const struct annotate_options *options,
			     const char *expected)
{
	struct profile *profile = make_work();
	struct function_matches found = {0};
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(function_matches_find(profile, 1, pattern, &found, &err), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(
		annotate_write(profile, found.wanted, found.items[0].name, options, &out, &err), 0);
	bytes_put_u8(&out, '\0');
	assert_string_equal((char *)out.data, expected);
	bytes_fini(&out);
	function_matches_fini(&found);
	profile_free(profile);
}

static void lines_have_shares_and_what_was_inlined_counts_at_the_call(void **state)
{
	assert_annotated("work", &(struct annotate_options){0},
			 "work(int)\n"
			 "80.0% total, 70.0% self: cpu 80.0 ms of 100.0 ms\n\n"
			 "app.c\n"
			 "    self     total   line\n"
			 "    0.0%     12.5%      -\n"
			 "   12.5%     12.5%     20\n"
			 "   75.0% i   75.0%     22\n\n"
			 "note: i: other functions were inlined into this line; its share includes "
			 "their cost\n"
			 "note: source not found; give its location with --source-path DIR or "
			 "--path-map FROM=TO\n");
}

static void assert_found(const struct profile *profile, const char *pattern, const char *first,
			 size_t count)
{
	struct function_matches found = {0};

	assert_int_equal(function_matches_find(profile, 1, pattern, &found, NULL), 0);
	assert_int_equal(found.count, count);
	assert_string_equal(found.items[0].name, first);
	function_matches_fini(&found);
}

static void a_function_wins_over_the_lambdas_in_it(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;sum(int)", 1);
	make_stack(profile, 0, "main;sum(int)::{lambda(int)#1}::operator()(int) const", 8);
	make_stack(profile, 0, "main;add(std::function<int (int)>) const", 1);
	make_stack(profile, 0, "main;add(long)", 2);
	make_stack(profile, 0, "main;only(int)::{lambda()#1}::operator()() const", 1);
	make_stack(profile, 0, "main;plain", 1);
	make_stack(profile, 0, "main;plain(int)", 4);
	assert_found(profile, "sum", "sum(int)", 1);
	assert_found(profile, "add", "add(long)", 2); /* which of both is meant nobody knows */
	assert_found(profile, "only", "only(int)::{lambda()#1}::operator()() const", 1);
	assert_found(profile, "plain", "plain", 1);
	assert_found(profile, "/^sum/", "sum(int)::{lambda(int)#1}::operator()(int) const", 2);
	profile_free(profile);
}

static void without_lines_there_are_instructions(void **state)
{
	struct profile *profile = make_profile();
	struct function_matches found = {0};
	struct bytes out = {0};

	make_stack(profile, 0, "main;bare@1", 3);
	assert_int_equal(function_matches_find(profile, 1, "bare", &found, NULL), 0);
	assert_int_equal(annotate_write(profile, found.wanted, "bare",
					&(struct annotate_options){0}, &out, NULL),
			 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "  address "));
	assert_non_null(strstr((char *)out.data, "100.0%          1101"));
	assert_non_null(strstr((char *)out.data, "note: its line numbers are unknown"));
	bytes_fini(&out);
	function_matches_fini(&found);
	profile_free(profile);
}

/* Bytes are no samples, and have their own unit. */
static void a_heap_is_told_in_bytes(void **state)
{
	struct profile *profile = make_work();
	struct function_matches found = {0};
	struct bytes out = {0};

	profile->value_types[0].name = "alloc_space";
	profile->value_types[1] = (struct value_type){"inuse_space", "bytes"};
	assert_int_equal(function_matches_find(profile, 1, "work", &found, NULL), 0);
	assert_int_equal(annotate_write(profile, found.wanted, found.items[0].name,
					&(struct annotate_options){0}, &out, NULL),
			 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "70.0% self: inuse_space 76.3 MiB of 95.4 MiB\n"));
	bytes_clear(&out);
	assert_int_equal(annotate_write(profile, found.wanted, found.items[0].name,
					&(struct annotate_options){.json = true}, &out, NULL),
			 0);
	bytes_put_u8(&out, '\0');
	assert_null(strstr((char *)out.data, "samples"));
	bytes_fini(&out);
	function_matches_fini(&found);
	profile_free(profile);
}

static void an_inlined_function_has_lines_of_its_own(void **state)
{
	assert_annotated("/^inn/", &(struct annotate_options){.json = true},
			 "{\n"
			 "  \"function\": \"inner\",\n"
			 "  \"title\": \"app --demo\",\n"
			 "  \"value\": {\n"
			 "    \"name\": \"cpu\",\n"
			 "    \"unit\": \"nanoseconds\",\n"
			 "    \"total\": 100000000\n"
			 "  },\n"
			 "  \"self\": 60000000,\n"
			 "  \"total\": 60000000,\n"
			 "  \"self_percent\": 60.000,\n"
			 "  \"total_percent\": 60.000,\n"
			 "  \"files\": [\n"
			 "    {\n"
			 "      \"path\": \"app.c\",\n"
			 "      \"source\": null,\n"
			 "      \"lines\": [\n"
			 "        {\n"
			 "          \"line\": 50,\n"
			 "          \"text\": null,\n"
			 "          \"self\": 60000000,\n"
			 "          \"self_inlined\": 0,\n"
			 "          \"total\": 60000000,\n"
			 "          \"self_percent\": 100.000,\n"
			 "          \"total_percent\": 100.000,\n"
			 "          \"self_samples\": 6,\n"
			 "          \"samples\": 6\n"
			 "        }\n"
			 "      ]\n"
			 "    }\n"
			 "  ],\n"
			 "  \"notes\": [\n"
			 "    \"source not found; give its location with --source-path DIR or "
			 "--path-map FROM=TO\"\n"
			 "  ]\n"
			 "}\n");
}

static void addresses_stand_alone_where_the_file_is_gone(void **state)
{
	struct profile *profile = make_work();
	struct function_matches found = {0};
	struct bytes out = {0};

	assert_int_equal(function_matches_find(profile, 1, "work", &found, NULL), 0);
	assert_int_equal(annotate_write(profile, found.wanted, "work",
					&(struct annotate_options){.assembly = true}, &out, NULL),
			 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "   12.5%           114     20  \n"
						 "   75.0%           116     22  \n"));
	assert_non_null(strstr((char *)out.data, "note: "));
	assert_non_null(strstr((char *)out.data, "/nowhere/app"));
	bytes_fini(&out);
	function_matches_fini(&found);
	profile_free(profile);
}

static void functions_are_found_by_name_and_expression(void **state)
{
	static const struct {
		const char *pattern;
		int result;
		size_t count;
	} cases[] = {
		{"work(int)", 0, 1}, {"work", 0, 1}, {"wor", 0, 0},
		{"/wor/", 0, 1},     {"/./", 0, 5},  {"//", 0, 0},
		{"/(/", -EINVAL, 0}, {"", 0, 0},     {"/^(inner|main)$/", 0, 2},
	};
	struct profile *profile = make_work();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct function_matches found = {0};
		struct error err = {0};

		assert_int_equal(function_matches_find(profile, 1, cases[i].pattern, &found, &err),
				 cases[i].result);
		assert_int_equal(found.count, cases[i].count);
		function_matches_fini(&found);
	}
	profile_free(profile);
}

static void instructions_are_told_from_other_lines(void **state)
{
	static const char text[] = "\n/x:  file format elf64\n\nDisassembly of section .text:\n\n"
				   "0000000000001139 <main>:\n"
				   "    1139:\tpush   %rbp\n"
				   "    113a:      \tmovq\t%rsp, %rbp\n"
				   "    113d:\n"
				   "    2000:\tnop\n";
	struct disassembly code;

	assert_int_equal(disassembly_parse(strdup(text), 0x1139, 0x1140, &code), 0);
	assert_int_equal(code.count, 2);
	assert_int_equal(code.items[0].vaddr, 0x1139);
	assert_string_equal(code.items[0].text, "push   %rbp");
	assert_string_equal(code.items[1].text, "movq %rsp, %rbp");
	disassembly_fini(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_shares_and_what_was_inlined_counts_at_the_call),
		cmocka_unit_test(a_function_wins_over_the_lambdas_in_it),
		cmocka_unit_test(without_lines_there_are_instructions),
		cmocka_unit_test(a_heap_is_told_in_bytes),
		cmocka_unit_test(an_inlined_function_has_lines_of_its_own),
		cmocka_unit_test(addresses_stand_alone_where_the_file_is_gone),
		cmocka_unit_test(functions_are_found_by_name_and_expression),
		cmocka_unit_test(instructions_are_told_from_other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
