/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/suppressions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/leak.h"
#include "symbol/demangle.h"

static const struct suppression_call calls[] = {
	{"operator new(unsigned long)", "/usr/lib/libstdc++.so.6", "", 0, true},
	{"conf::parse_line(char const*)", "/opt/app/bin/app", "/src/app/conf.c", 42, false},
	{"load", "/opt/app/lib/libload.so.2", "/src/load/load.c", 7, false},
	{"main", "/opt/app/bin/app", "/src/app/main.c", 10, false},
};

static struct suppression_subject subject_of(enum leak_class leak_class)
{
	return (struct suppression_subject){.kind = 1u << leak_class,
					    .size_bytes = 48,
					    .first_ns = 1000000000,
					    .last_ns = 2000000000,
					    .thread = "worker-3",
					    .calls = calls,
					    .call_count = 4,
					    .place = 1};
}

static bool suppresses(const char *text, enum leak_class leak_class)
{
	struct suppression_subject subject = subject_of(leak_class);
	struct suppressions list = {0};
	struct error err = {0};
	bool found;

	if (suppressions_parse(&list, "test", text, strlen(text), demangle, &err) < 0)
		fail_msg("%s", err.text);
	found = suppressions_find(&list, &subject) != SIZE_MAX;
	suppressions_fini(&list);
	return found;
}

static bool rule(const char *lines)
{
	char text[1000];

	(void)snprintf(text, sizeof(text), "rule test\n%s\nend\n", lines);
	return suppresses(text, LEAK_DEFINITE);
}

static bool valgrind(const char *lines)
{
	char text[1000];

	(void)snprintf(text, sizeof(text), "{\n  a name\n  Memcheck:Leak\n%s\n}\n", lines);
	return suppresses(text, LEAK_DEFINITE);
}

static void globs_fit_whole_texts(void **state)
{
	assert_true(suppression_glob("", ""));
	assert_true(suppression_glob("*", ""));
	assert_true(suppression_glob("a*b*c", "axxbyybzzc"));
	assert_true(suppression_glob("?b*", "ab"));
	assert_false(suppression_glob("a*b", "axxc"));
	assert_false(suppression_glob("a", "ab"));
	assert_false(suppression_glob("?", ""));
}

static void names_of_leak_sanitizer_are_looked_for_anywhere(void **state)
{
	assert_true(suppresses("leak:parse_line", LEAK_DEFINITE));
	assert_true(suppresses("# why\nleak:libload.so", LEAK_DEFINITE));
	assert_true(suppresses("leak:load.c", LEAK_REACHABLE));
	assert_true(suppresses("leak:conf*line", LEAK_DEFINITE));
	assert_true(suppresses("leak:^main$", LEAK_DEFINITE));
	assert_true(suppresses("leak:^conf::*char", LEAK_DEFINITE));
	assert_false(suppresses("leak:^parse_line", LEAK_DEFINITE));
	assert_false(suppresses("leak:parse_line$", LEAK_DEFINITE));
	assert_false(suppresses("leak:^mai$", LEAK_DEFINITE));
	assert_false(suppresses("leak:Parse_line", LEAK_DEFINITE));
}

static void stacks_of_valgrind_begin_with_the_allocator(void **state)
{
	assert_true(valgrind("fun:malloc\nfun:conf::parse_line*\nfun:load"));
	assert_true(valgrind("fun:*alloc\n...\nfun:main"));
	assert_true(valgrind("fun:_Znwm\nfun:_ZN4conf10parse_lineEPKc\n"));
	assert_true(valgrind("fun:_Znwm\nfun:_ZN4conf10parse*\n"));
	assert_true(valgrind("...\nobj:*/libload.so*"));
	assert_true(valgrind("...\nobj:/opt/app/lib/libload.so.2\nfun:main"));
	assert_true(valgrind("...\nsrc:conf.c:42"));
	assert_true(valgrind("...\n...\nfun:load\n..."));
	assert_false(valgrind("...\nsrc:conf.c:43"));
	assert_false(valgrind("fun:malloc\nfun:load"));
	assert_false(valgrind("fun:load"));
	assert_false(valgrind("...\nfun:main\nfun:load"));
	assert_false(valgrind("...\nfun:main\nfun:_start"));
	assert_false(valgrind("fun:_Znwm\nfun:_ZN4conf11parse_lines*\n"));
}

static void kinds_of_valgrind_are_classes(void **state)
{
	static const char text[] =
		"{\n x\n Memcheck:Leak\n match-leak-kinds: definite,possible\n ...\n fun:main\n}";

	assert_true(suppresses(text, LEAK_DEFINITE));
	assert_true(suppresses(text, LEAK_PROBABLE));
	assert_true(suppresses(text, LEAK_POSSIBLE));
	assert_false(suppresses(text, LEAK_REACHABLE));
	assert_false(suppresses(text, LEAK_INDIRECT));
}

static void rules_of_other_tools_are_passed_over(void **state)
{
	static const char text[] = "{\n a\n Memcheck:Param\n epoll_ctl(event)\n fun:main\n}\n"
				   "{\n b\n Helgrind:Race\n fun:x\n}\n"
				   "race:foo\nleak:bar\nvptr_check:x\n"
				   "{\n c\n Helgrind,Memcheck:Leak\n fun:zzz\n}\n";
	struct suppressions list = {0};
	struct suppression_subject subject = subject_of(LEAK_DEFINITE);

	assert_int_equal(suppressions_parse(&list, "f", text, strlen(text), NULL, NULL), 0);
	assert_int_equal(list.rules.count, 2);
	assert_int_equal(list.passed_over, 4);
	assert_string_equal(list.rules.items[0].name, "leak:bar");
	assert_string_equal(list.rules.items[1].name, "c");
	assert_string_equal(list.rules.items[1].origin, "f:16");
	assert_true(suppressions_find(&list, &subject) == SIZE_MAX);
	suppressions_fini(&list);
}

static void our_own_rules_have_conditions(void **state)
{
	assert_true(rule("function conf::parse_*\nfunction load"));
	assert_true(rule("...\nfile main.c:10"));
	assert_true(rule("...\nmodule libload.so*"));
	assert_true(rule("at conf.c:40-50"));
	assert_true(rule("at src/app/*.c"));
	assert_true(rule("size 40..64\nthread worker-*\ntime 1s..2s"));
	assert_true(rule("size 48\nkinds definite probable"));
	assert_true(rule("size ..48"));
	assert_true(rule("time 500ms.."));
	assert_false(rule("at conf.c:43-50"));
	assert_false(rule("at load.c"));
	assert_false(rule("size 49.."));
	assert_false(rule("thread main"));
	assert_false(rule("time ..1500ms"));
	assert_false(rule("time 1100ms.."));
	assert_false(rule("size 48\nkinds growth, unscanned"));
	assert_false(rule("size 48\nfunction main"));
}

static void mistakes_name_file_and_line(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{"hello", "f:1: \"hello\" does not start a rule"},
		{"{\n}", "f:2: the rule at line 1 has no name"},
		{"{\n x\n Memcheck:Leak\n fun:a\n", "has no closing }"},
		{"{\n x\n Memcheck:Leak\n foo\n}\n", "f:4: \"foo\": expected fun:"},
		{"{\n x\n Memcheck:Leak\n match-leak-kinds: lost\n}",
		 "\"lost\" is not a leak kind"},
		{"\n\nrule x\n size 5..4\nend", "f:4: \"5..4\": expected a range"},
		{"rule x\n size\nend", "expected a range"},
		{"rule x\n at a.c:x\nend", "expected FILE"},
		{"rule x\n frob\nend", "expected kinds"},
		{"rule x\n kinds growth\nend", "would suppress everything"},
		{"rule x\n size 1", "has no end"},
		{"leak:", "would suppress everything"},
		{"leak:*", "would suppress everything"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct suppressions list = {0};
		struct error err = {0};

		assert_int_equal(suppressions_parse(&list, "f", bad[i].text, strlen(bad[i].text),
						    NULL, &err),
				 -EINVAL);
		if (!strstr(err.text, bad[i].words))
			fail_msg("%s: not %s", err.text, bad[i].words);
		suppressions_fini(&list);
	}
}

static void limits_are_kept(void **state)
{
	char *text = malloc(SUPPRESSION_FILE_MAX + 1);
	struct suppressions list = {0};
	struct error err = {0};

	assert_non_null(text);
	memset(text, 'a', SUPPRESSION_FILE_MAX + 1);
	assert_int_equal(suppressions_parse(&list, "f", text, SUPPRESSION_FILE_MAX + 1, NULL, &err),
			 -EINVAL);
	assert_int_equal(suppressions_parse(&list, "f", text, SUPPRESSION_LINE_MAX, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "the line has 4096 bytes"));
	for (size_t i = 0; i <= SUPPRESSION_RULES_MAX; i++)
		memcpy(text + 7 * i, "leak:a\n", 7);
	assert_int_equal(
		suppressions_parse(&list, "f", text, 7 * (SUPPRESSION_RULES_MAX + 1), NULL, &err),
		-EINVAL);
	assert_non_null(strstr(err.text, "more than 10000 rules"));
	suppressions_fini(&list);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_fit_whole_texts),
		cmocka_unit_test(names_of_leak_sanitizer_are_looked_for_anywhere),
		cmocka_unit_test(stacks_of_valgrind_begin_with_the_allocator),
		cmocka_unit_test(kinds_of_valgrind_are_classes),
		cmocka_unit_test(rules_of_other_tools_are_passed_over),
		cmocka_unit_test(our_own_rules_have_conditions),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(limits_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
