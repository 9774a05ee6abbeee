/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"

static void check(void (*put)(struct bytes *out, const char *text), const char *text,
		  const char *expected)
{
	struct bytes out = {0};

	put(&out, text);
	bytes_put_u8(&out, 0);
	assert_string_equal((char *)out.data, expected);
	bytes_fini(&out);
}

static void bad_utf8_is_one_bad_byte(void **state)
{
	static const char *const bad[] = {"\xff",         "\xc0\x80",         "\xe2\x82",
					  "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"};
	uint32_t c;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(text_decode_utf8(bad[i], &c), 1);
		assert_int_equal(c, 0xfffd);
	}
	assert_int_equal(text_decode_utf8("\xe2\x82\xac", &c), 3);
	assert_int_equal(c, 0x20ac);
	assert_int_equal(text_decode_utf8("\xf0\x9f\x98\x80", &c), 4);
	assert_int_equal(c, 0x1f600);
}

static void terminals_see_no_control_bytes(void **state)
{
	check(text_put_terminal, "a\x1b[31m\xe2\x82\xac", "a\\x1b[31m\xe2\x82\xac");
	check(text_put_terminal, "\xe2\x80\xae\xff", "\xef\xbf\xbd\xef\xbf\xbd");
}

static void markup_becomes_entities(void **state)
{
	check(text_put_xml, "<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
	check(text_put_xml, "\x01", "\xef\xbf\xbd");
}

static void plain_text_is_one_line_without_marks_of_direction(void **state)
{
	check(text_put_plain, "<a> & 'b'\n\xe2\x80\xae\xff",
	      "<a> & 'b'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void json_strings_are_escaped(void **state)
{
	check(text_put_json, "\"\\\t</script>", "\\\"\\\\\\u0009\\u003c/script>");
}

static void csv_fields_stay_in_their_quotes(void **state)
{
	check(text_put_csv, "", "\"\"");
	check(text_put_csv, "a,b \"c\"\"", "\"a,b \"\"c\"\"\"\"\"");
	check(text_put_csv, "=1+1", "\"'=1+1\"");
	check(text_put_csv, "+[NSString string]", "\"'+[NSString string]\"");
	check(text_put_csv, "-1", "\"'-1\"");
	check(text_put_csv, "@SUM(A1)", "\"'@SUM(A1)\"");
	check(text_put_csv, "a=b+c-d@e", "\"a=b+c-d@e\"");
	check(text_put_csv, "two\nlines\r\xff", "\"two\\x0alines\\x0d\xef\xbf\xbd\"");
}

static void words_of_a_shell_are_quoted_if_need_be(void **state)
{
	check(text_put_shell, "a/b-1.wick", "a/b-1.wick");
	check(text_put_shell, "", "''");
	check(text_put_shell, "it's \n$x \xc3\xa4", "'it'\\''s ?$x \xc3\xa4'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_utf8_is_one_bad_byte),
		cmocka_unit_test(terminals_see_no_control_bytes),
		cmocka_unit_test(markup_becomes_entities),
		cmocka_unit_test(plain_text_is_one_line_without_marks_of_direction),
		cmocka_unit_test(json_strings_are_escaped),
		cmocka_unit_test(csv_fields_stay_in_their_quotes),
		cmocka_unit_test(words_of_a_shell_are_quoted_if_need_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
