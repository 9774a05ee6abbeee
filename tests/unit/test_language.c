/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/language.h"

#include "make_profile.h"

static void the_file_or_the_name_tells_the_language(void **state)
{
	static const struct {
		const char *name;
		const char *file;
		enum function_origin origin;
		enum language language;
	} cases[] = {
		{"main", "src/main.c", ORIGIN_PROGRAM, LANGUAGE_C},
		{"main", "src/main.cpp", ORIGIN_PROGRAM, LANGUAGE_CPP},
		{"main", "src/main.rs", ORIGIN_PROGRAM, LANGUAGE_RUST},
		{"main.main", "main.go", ORIGIN_PROGRAM, LANGUAGE_GO},
		{"memcpy", "memcpy.S", ORIGIN_LIBRARY, LANGUAGE_ASSEMBLY},
		{"malloc", "", ORIGIN_LIBRARY, LANGUAGE_C},
		{"foo.cold", "", ORIGIN_PROGRAM, LANGUAGE_C},
		{"__memmove_avx2", "", ORIGIN_LIBRARY, LANGUAGE_ASSEMBLY},
		{"std::vector<int>::push_back(int&&)", "", ORIGIN_PROGRAM, LANGUAGE_CPP},
		{"operator new(unsigned long)", "", ORIGIN_LIBRARY, LANGUAGE_CPP},
		{"core::fmt::write", "", ORIGIN_PROGRAM, LANGUAGE_RUST},
		{"<T as core::iter::Iterator>::next", "", ORIGIN_PROGRAM, LANGUAGE_RUST},
		{"app::run::{{closure}}", "", ORIGIN_PROGRAM, LANGUAGE_RUST},
		{"runtime.mallocgc", "", ORIGIN_PROGRAM, LANGUAGE_GO},
		{"net/http.(*conn).serve", "", ORIGIN_PROGRAM, LANGUAGE_GO},
		{"py::work:app.py", "", ORIGIN_JIT, LANGUAGE_PYTHON},
		{"LazyCompile:~tick", "", ORIGIN_JIT, LANGUAGE_SCRIPT},
		{"work", "app.py", ORIGIN_INTERPRETED, LANGUAGE_PYTHON},
		{"<module>", "<string>", ORIGIN_INTERPRETED, LANGUAGE_PYTHON},
		{"work", "script", ORIGIN_INTERPRETED, LANGUAGE_PYTHON},
		{"work", "lib/app.rb", ORIGIN_INTERPRETED, LANGUAGE_RUBY},
		{"block in work", "script", ORIGIN_INTERPRETED, LANGUAGE_RUBY},
		{"tap", "<internal:kernel>", ORIGIN_INTERPRETED, LANGUAGE_RUBY},
		{"work", "(eval)", ORIGIN_INTERPRETED, LANGUAGE_RUBY},
		{"work", "-e", ORIGIN_INTERPRETED, LANGUAGE_RUBY},
		{"do_syscall_64", "", ORIGIN_KERNEL, LANGUAGE_KERNEL},
		{"0x1234", "", ORIGIN_UNKNOWN, LANGUAGE_UNKNOWN},
		{"", "", ORIGIN_PROGRAM, LANGUAGE_C},
	};
	struct profile *profile = make_profile();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t id = profile_function(profile, cases[i].name, cases[i].file, "",
					       cases[i].origin);
		enum language found = language_of(profile, &profile->functions.items[id]);

		if (found != cases[i].language)
			fail_msg("%s (%s): %d", cases[i].name, cases[i].file, (int)found);
	}
	profile_free(profile);
}

static void a_word_means_a_language_in_any_case(void **state)
{
	assert_int_equal(language_of_word("python"), LANGUAGE_PYTHON);
	assert_int_equal(language_of_word("C++"), LANGUAGE_CPP);
	assert_int_equal(language_of_word("cpp"), LANGUAGE_CPP);
	assert_int_equal(language_of_word("Kernel"), LANGUAGE_KERNEL);
	assert_int_equal(language_of_word("unknown"), LANGUAGE_UNKNOWN);
	assert_int_equal(language_of_word("cobol"), LANGUAGES);
	assert_int_equal(language_of_word(""), LANGUAGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_or_the_name_tells_the_language),
		cmocka_unit_test(a_word_means_a_language_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
