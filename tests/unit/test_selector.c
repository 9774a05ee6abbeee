/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/selector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static struct selector selector;

static void check(size_t at, const char *name, enum store_match_kind kind, const char *value)
{
	assert_true(at < selector.count);
	assert_string_equal(selector.matches[at].name, name);
	assert_int_equal(selector.matches[at].kind, kind);
	assert_string_equal(selector.matches[at].value, value);
}

static void a_service_or_labels_or_both_may_be_given(void **state)
{
	struct error err;

	assert_int_equal(selector_parse(&selector, "web", &err), 0);
	assert_int_equal(selector.count, 1);
	check(0, "service", MATCH_EQUAL, "web");
	assert_int_equal(selector_parse(&selector, "", &err), 0);
	assert_int_equal(selector.count, 0);
	assert_int_equal(selector_parse(&selector, "{}", &err), 0);
	assert_int_equal(selector.count, 0);
	assert_int_equal(selector_parse(&selector,
					" web api { host = \"a\" , b!=\"c\",d=~\"e.*\",f!~\"g\" } ",
					&err),
			 0);
	assert_int_equal(selector.count, 5);
	check(0, "service", MATCH_EQUAL, "web api");
	check(1, "host", MATCH_EQUAL, "a");
	check(2, "b", MATCH_NOT_EQUAL, "c");
	check(3, "d", MATCH_REGEX, "e.*");
	check(4, "f", MATCH_NOT_REGEX, "g");
	assert_string_equal(selector_value(&selector, "host"), "a");
	assert_null(selector_value(&selector, "b"));
}

static void quotes_and_backslashes_are_escaped(void **state)
{
	struct error err;

	assert_int_equal(selector_parse(&selector, "{a=\"x\\\"y\\\\z}{\"}", &err), 0);
	check(0, "a", MATCH_EQUAL, "x\"y\\z}{");
}

static void the_service_has_pyroscopes_name_too(void **state)
{
	struct error err;

	assert_int_equal(selector_parse(&selector, "{service_name=\"web\"}", &err), 0);
	check(0, "service", MATCH_EQUAL, "web");
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} wrong[] = {
		{"{", "the name of a label at character 2"},
		{"{a", "=, !=, =~ or !~ at character 3"},
		{"{a=b}", "a value in double quotes at character 4"},
		{"{a=\"b}", "the closing quote"},
		{"{a=\"b\" c=\"d\"}", "a comma or }"},
		{"{a=\"b\"}x", "the end at character 8"},
		{"a=\"b\"", "the name of a service"},
		{"{a=~\"(\"}", "regular expression ("},
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err = {0};

		assert_int_equal(selector_parse(&selector, wrong[i].text, &err), -EINVAL);
		assert_non_null(strstr(err.text, wrong[i].expected));
		assert_true(err.remedy[0] != '\0');
	}
}

static void too_many_labels_and_too_much_text_are_refused(void **state)
{
	static char text[4 * SELECTOR_BYTES_MAX];
	struct error err;
	size_t i;

	memset(text, 'a', SELECTOR_BYTES_MAX);
	assert_int_equal(selector_parse(&selector, text, &err), -E2BIG);
	text[0] = '{';
	text[1] = '\0';
	for (i = 0; i <= SELECTOR_MATCHES_MAX; i++)
		strncat(text, "a=\"b\",", 7);
	strncat(text, "}", 2);
	assert_int_equal(selector_parse(&selector, text, &err), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_or_labels_or_both_may_be_given),
		cmocka_unit_test(quotes_and_backslashes_are_escaped),
		cmocka_unit_test(the_service_has_pyroscopes_name_too),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(too_many_labels_and_too_much_text_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
