/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define WIDE "\xe8\xa8\x88\xe7\xae\x97" /* two characters, four columns */

static void texts_are_cut_and_filled_to_their_width(void **state)
{
	static const struct {
		const char *text;
		uint32_t width;
		const char *shown;
	} cases[] = {
		{"abc", 5, "abc  "},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab~"},
		{"abcd", 1, "~"},
		{"", 2, "  "},
		{WIDE, 4, WIDE},
		{WIDE, 3, "\xe8\xa8\x88~"},
		{WIDE, 2, "~ "},                 /* one column is no room for half of it */
		{"e\xcc\x81x", 2, "e\xcc\x81x"}, /* an accent takes none */
		{"a\x1b[2J", 9, "a\\x1b[2J "},
		{"a\nb", 9, "a\\x0ab   "},
		{"\xff", 1, "\xef\xbf\xbd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct top_screen screen = {0};
		const struct top_span *span;

		top_screen_clear(&screen, 20, 1);
		top_screen_put(&screen, (struct top_span){.width = cases[i].width}, cases[i].text);
		span = &screen.spans.items[0];
		assert_int_equal(span->width, cases[i].width);
		assert_int_equal(span->size, strlen(cases[i].shown));
		assert_memory_equal(screen.text.data + span->text, cases[i].shown, span->size);
		top_screen_fini(&screen);
	}
}

static void nothing_reaches_over_the_edge(void **state)
{
	struct top_screen screen = {0};

	top_screen_clear(&screen, 10, 2);
	top_screen_put(&screen, (struct top_span){.row = 2, .width = 5}, "below");
	top_screen_put(&screen, (struct top_span){.column = 10, .width = 5}, "beside");
	assert_int_equal(screen.spans.count, 0);
	top_screen_put(&screen, (struct top_span){.row = 1, .column = 7, .width = 9}, "abcdef");
	assert_int_equal(screen.spans.items[0].width, 3);
	top_screen_fini(&screen);
}

static void lines_are_printed_in_their_order(void **state)
{
	struct top_screen screen = {0};
	struct bytes out = {0};

	top_screen_clear(&screen, 20, 4);
	top_screen_put(&screen, (struct top_span){.row = 2, .column = 6, .width = 4}, "b");
	top_screen_put(&screen, (struct top_span){.row = 2, .column = 1, .width = 3}, "a");
	top_screen_put(&screen, (struct top_span){.row = 0, .column = 0, .width = 4}, WIDE);
	top_screen_print(&screen, &out);
	bytes_put_u8(&out, '\0');
	assert_string_equal((const char *)out.data, WIDE "\n\n a    b\n");
	bytes_fini(&out);
	top_screen_fini(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_cut_and_filled_to_their_width),
		cmocka_unit_test(nothing_reaches_over_the_edge),
		cmocka_unit_test(lines_are_printed_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
