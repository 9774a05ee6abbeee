/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"

static void assert_text(const char *name, const char *expected)
{
	char *text = demangle(name);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void cpp_names_show_their_parameters(void **state)
{
	assert_text("_ZN2ns1fEi", "ns::f(int)");
	assert_text("_ZNK3FooIiE3barERKSs", "Foo<int>::bar(std::string const&) const");
}

static void return_types_of_templates_are_left_out(void **state)
{
	assert_text("_ZN2ns5outerIlEET_S1_", "ns::outer<long>(long)");
}

static void clones_keep_their_suffix(void **state)
{
	assert_text("_Z3foov.cold", "foo() [clone .cold]");
}

static void rust_names_lose_their_hash(void **state)
{
	assert_text("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		    "core::fmt::Write::write_fmt");
	assert_text("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
}

/* What is no letter stays as it is. */
static void letters_of_older_rust_names_are_shown(void **state)
{
	assert_text("_ZN1r18gr$uf6$$udf$e$u21$17h0123456789abcdefE", "r::gr\xc3\xb6\xc3\x9f"
								     "e!");
	assert_text("_ZN1r16$u4e2d$$u1f600$n17h0123456789abcdefE",
		    "r::\xe4\xb8\xad\xf0\x9f\x98\x80n");
	assert_text("_ZN1r25$ud800$$u110000$$u85$$u$u17h0123456789abcdefE",
		    "r::$ud800$$u110000$$u85$$u$u");
}

static void d_names_show_their_modules(void **state)
{
	assert_text("_D3std5stdio4File5writeMFAaZv", "std.stdio.File.write(char[])");
	assert_text("_D1aFG1aG1aZv", "a(char[1], char[1])");
	assert_text("_Dmain", "D main");
}

/* Each reference doubles what stands before it. */
static void d_names_with_many_references_are_shown_as_they_are(void **state)
{
	char name[256] = "_D1aFPi";

	for (size_t i = 0; i < 13; i++)
		memcpy(name + 7 + 2 * i, "Qb", 3);
	assert_null(demangle(name));
}

static void what_is_not_mangled_gives_none(void **state)
{
	static const char *const names[] = {"", "main", "_start", "_Z", "_R", "_Zfoo", "_RUST"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_null(demangle(names[i]));
}

/* Returns start, then the unit as often as it fits size bytes, then end. */
static char *repeat(const char *start, const char *unit, size_t size, const char *end)
{
	size_t start_size = strlen(start);
	size_t count = (size - start_size - strlen(end)) / strlen(unit);
	char *name = malloc(size + 1);
	char *at = name;

	memcpy(at, start, start_size);
	at += start_size;
	for (size_t i = 0; i < count; i++, at += strlen(unit))
		memcpy(at, unit, strlen(unit));
	memcpy(at, end, strlen(end) + 1);
	return name;
}

static void a_long_honest_name_is_demangled(void **state)
{
	char *name = repeat("_Z1f", "3abc", 3000, "");
	char *text = demangle(name);

	assert_non_null(text);
	assert_memory_equal(text, "f(abc, abc, ", 12);
	free(text);
	free(name);
}

static void absurd_nesting_and_length_are_refused(void **state)
{
	static const char *const units[] = {"P", "A1_", "F", "1xI", "PFvP", "JI"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		char *name = repeat("_Z1f", units[i], 16 << 10, "i");

		assert_null(demangle(name));
		free(name);
		name = repeat("_Z1f", units[i], 1 << 20, "i");
		assert_null(demangle(name));
		free(name);
	}
}

static void back_references_cannot_make_endless_text(void **state)
{
	/* Each pair doubles what came before it: 2^40 times "i" in the end. */
	char name[1024] = "_Z1f1pIiiE";
	size_t used = strlen(name);
	char *text;

	for (int i = 0; i < 40; i++) {
		char digits[3] = {0};
		const char *set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

		if (i == 0)
			memcpy(digits, "0", 1);
		else if (i < 36)
			digits[0] = set[i];
		else
			digits[0] = '1', digits[1] = set[i - 36];
		used += (size_t)snprintf(name + used, sizeof(name) - used, "S_IS%s_S%s_E", digits,
					 digits);
	}
	text = demangle(name);
	assert_true(!text || strlen(text) <= 64 << 10);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names_show_their_parameters),
		cmocka_unit_test(return_types_of_templates_are_left_out),
		cmocka_unit_test(clones_keep_their_suffix),
		cmocka_unit_test(rust_names_lose_their_hash),
		cmocka_unit_test(letters_of_older_rust_names_are_shown),
		cmocka_unit_test(d_names_show_their_modules),
		cmocka_unit_test(d_names_with_many_references_are_shown_as_they_are),
		cmocka_unit_test(what_is_not_mangled_gives_none),
		cmocka_unit_test(a_long_honest_name_is_demangled),
		cmocka_unit_test(absurd_nesting_and_length_are_refused),
		cmocka_unit_test(back_references_cannot_make_endless_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
