/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/flame_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "view/flame/flame_change.h"
#include "view/page/page_columns.h"
#include "view/source_file.h"

static struct profile *a_profile(void)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;parse>skip", 3);
	make_stack(profile, 0, "main;liba;parse", 2);
	make_stack(profile, profile_thread(profile, 100, 101, "worker", "app"), "main;parse>skip",
		   1);
	return profile;
}

static char *write_page(const struct profile *profile, const struct flame_page_options *options)
{
	struct bytes out = {0};

	assert_int_equal(flame_page_write(profile, options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_false(out.failed);
	return (char *)out.data;
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void a_page_is_one_file_that_may_load_nothing(void **state)
{
	struct flame_page_options options = {.graph = FLAME_OPTIONS_DEFAULT};
	struct profile *profile = a_profile();
	char *text = write_page(profile, &options);
	char *again = write_page(profile, &options);

	assert_string_equal(text, again);
	assert_non_null(strstr(text, "default-src 'none'"));
	assert_null(strstr(text, " src="));
	assert_non_null(strstr(text, "\"wick\":\""));
	assert_non_null(strstr(text, "<title>app --demo</title>"));
	assert_int_equal(count_of(text, "<script"), 3);
	assert_int_equal(count_of(text, "</script"), 3);
	free(text);
	free(again);
	profile_free(profile);
}

static void no_text_leaves_its_place(void **state)
{
	struct flame_page_options options = {.graph = FLAME_OPTIONS_DEFAULT};
	struct profile *profile = a_profile();
	char *text;

	options.graph.title = "</title></script><script>alert(1)</script>";
	make_stack(profile, 0, "</script><script>alert(2)</script>", 2);
	assert_int_equal(profile_add_fact(profile, "filter", "</script><script>alert(3)"), 0);
	text = write_page(profile, &options);
	assert_int_equal(count_of(text, "<script"), 3);
	assert_int_equal(count_of(text, "</script"), 3);
	assert_null(strstr(text, "<script>alert"));
	free(text);
	profile_free(profile);
}

static void a_value_that_is_not_there_is_refused(void **state)
{
	struct flame_page_options options = {.graph = FLAME_OPTIONS_DEFAULT};
	struct profile *profile = a_profile();
	struct bytes out = {0};
	struct error err = {0};

	options.graph.value_name = "cycles";
	assert_int_equal(flame_page_write(profile, &options, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no value cycles"));
	bytes_fini(&out);
	profile_free(profile);
}

static void the_data_of_a_page_is_what_the_file_has(void **state)
{
	struct flame_page_options options = {.graph = FLAME_OPTIONS_DEFAULT};
	struct profile *profile = a_profile();
	char *text = write_page(profile, &options);
	const char *about = strstr(text, "id=\"about\">") + strlen("id=\"about\">");
	struct bytes out = {0};
	struct cursor cursor;
	size_t size;

	assert_int_equal(flame_page_data_write(profile, &options, &out, NULL), 0);
	cursor = cursor_of(out.data, out.size);
	size = cursor_u32(&cursor);
	assert_memory_equal(cursor_take(&cursor, size), about, size);
	assert_int_equal(strncmp(about + size, "</script>", 9), 0);
	assert_memory_equal(cursor_take(&cursor, 2), "\x1f\x8b", 2); /* gzip */
	bytes_clear(&out);
	options.graph.value_name = "cycles";
	assert_int_equal(flame_page_data_write(profile, &options, &out, NULL), -EINVAL);
	assert_int_equal(out.size, 0);
	bytes_fini(&out);
	free(text);
	profile_free(profile);
}

/* The next section, as text: numbers one after the other, or what it is. */
static void assert_section(struct cursor *cursor, const char *expected)
{
	size_t size = (size_t)cursor_varint(cursor);
	struct cursor part = cursor_of(cursor_take(cursor, size), size);
	char text[512] = "";

	while (cursor_left(&part) > 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ",
			       (unsigned int)cursor_varint(&part));
	assert_string_equal(text, expected);
}

static struct bytes columns_of(const struct profile *profile, const struct source_search *search)
{
	struct bytes out = {0};
	struct page_columns_options options = {
		.value = 0, .value_count = 2, .lines = true, .search = search};

	assert_int_equal(page_columns_put(profile, &options, &out), 0);
	return out;
}

static void columns_have_the_tree_and_what_each_thread_cost(void **state)
{
	struct profile *profile = a_profile();
	uint32_t stack = profile->entries.items[0].stack;
	struct profile_blocks blocks[] = {
		{.stack = stack, .born = 1, .died = PROFILE_BLOCKS_LIVE, .bytes = 9, .blocks = 3},
		{.stack = stack, .born = 0, .died = 2, .bytes = 5, .blocks = 1, .temporary = 1},
		{.stack = stack, .born = 0, .died = 2, .bytes = 6, .blocks = 1}, /* is added */
	};
	struct level_track heap = {.kind = LEVEL_HEAP};
	struct profile_moment moments[] = {
		{2, profile->entries.items[0].stack, {1, 10}, 0, 0, 7},
		{0, profile->entries.items[0].stack, {2, 20}, 0},
		{1, profile->entries.items[2].stack, {1, 10}, 1},
	};
	struct bytes out;
	struct cursor cursor;
	size_t size;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(moments); i++)
		assert_int_equal(vec_push(&profile->moments, moments[i]), 0);
	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		assert_int_equal(vec_push(&profile->time.blocks, blocks[i]), 0);
	assert_int_equal(level_track_add(&heap, (struct level_point){15, 20, 30}), 0);
	assert_int_equal(vec_push(&profile->time.tracks, heap), 0);
	profile->slice_ns = 10;
	profile->duration_ns = 35;
	out = columns_of(profile, NULL);
	cursor = cursor_of(out.data, out.size);
	size = (size_t)cursor_varint(&cursor);
	assert_memory_equal(
		cursor_take(&cursor, size),
		"liba\nmain\nparse\nskip\nlibdemo.so.1\napp\n\napp.c\napp\nworker\n[unnamed]\n",
		size);
	size = (size_t)cursor_varint(&cursor); /* functions: the browser's tests read them */
	(void)cursor_take(&cursor, size);
	assert_section(&cursor, "2 100 100 8 8 100 101 9 8 "); /* threads */
	/* main(liba(parse), parse(skip, inlined)) */
	assert_section(&cursor, "5 0 0 0 2 0 2 0 4 4 7 ");
	/* parse below liba, and skip of both threads; samples and cpu, zigzag */
	assert_section(&cursor, "3 3 2 0 0 0 1 0 0 0 0 0 0 4 6 2 40000000 60000000 20000000 ");
	assert_section(&cursor, "3 2 0 2 1 0 2 1 4 2 2 40 20 20 0 14 0 ");
	/* The second entry has two: born in 0, dead in 2; born in 1 and live. */
	assert_section(&cursor, "2 0 2 0 0 1 6 0 22 18 4 6 2 0 ");
	/* Four slices, one level: from slice 1 on the highest is 30, then it is 20. */
	assert_section(&cursor, "4 1 0 10 10 10 0 1 60 19 0 ");
	assert_section(&cursor, "0 0 "); /* no lines are known */
	assert_section(&cursor, "0 ");
	assert_false(cursor.failed);
	assert_int_equal(cursor_left(&cursor), 0);
	bytes_fini(&out);
	profile_free(profile);
}

/* A profile of one function with one sample in a line of a file. */
static struct profile *of_line(const char *path, uint32_t line)
{
	struct profile *profile = make_profile();
	struct profile_line at = {
		.function = profile_function(profile, "work", path, "/usr/bin/app", 0),
		.line = line};

	assert_int_equal(
		profile_add(profile,
			    stack_tree_child(&profile->stacks, 0,
					     profile_location(profile, "/usr/bin/app", 1, &at, 1)),
			    0, (const int64_t[]){1, 10}),
		0);
	return profile;
}

static void entries_know_the_lines_that_they_went_through(void **state)
{
	struct profile *profile = of_line("/src/work.c", 40);
	struct bytes out = columns_of(profile, NULL);
	struct cursor cursor = cursor_of(out.data, out.size);
	int i;

	for (i = 0; i < 4; i++) { /* up to the entries */
		size_t size = (size_t)cursor_varint(&cursor);

		(void)cursor_take(&cursor, size);
	}
	/* Of the last two: node 1, and its leaf is in that line. */
	assert_section(&cursor, "1 1 0 0 3 2 20 ");
	for (i = 0; i < 3; i++) { /* moments, blocks, levels */
		size_t size = (size_t)cursor_varint(&cursor);

		(void)cursor_take(&cursor, size);
	}
	assert_section(&cursor, "1 0 40 1 1 0 "); /* one line, one node */
	bytes_fini(&out);
	profile_free(profile);
}

static bool has_text(const struct bytes *out, const char *text)
{
	return memmem(out->data, out->size, text, strlen(text)) != NULL;
}

static void sources_are_the_lines_around_samples(void **state)
{
	char path[] = "/tmp/wick-page.XXXXXX";
	const char *folder = "/tmp";
	struct source_search search = {
		.directories = &folder, .directory_count = 1, .is_asked = true};
	int fd = mkstemp(path);
	struct profile *profile = of_line(path, 40);
	struct bytes out;
	int i;

	assert_true(fd >= 0);
	for (i = 1; i <= 100; i++)
		assert_true(dprintf(fd, "\tline %d;\033\n", i) > 0);
	out = columns_of(profile, &search);
	assert_true(has_text(&out, "        line 40;\xef\xbf\xbd\n        line 41;"));
	assert_true(has_text(&out, "line 34;"));
	assert_false(has_text(&out, "line 33;"));
	assert_true(has_text(&out, "line 46;"));
	assert_false(has_text(&out, "line 47;"));
	bytes_fini(&out);
	out = columns_of(profile, NULL); /* they stay out when nobody asks for them */
	assert_false(has_text(&out, "line 40;"));
	bytes_fini(&out);
	profile_free(profile);
	(void)close(fd);
	(void)unlink(path);
}

static void the_limit_of_changes_is_as_likely_as_that_of_the_svg(void **state)
{
	assert_true(fabs(erf(FLAME_CHANGE_DEVIATIONS / M_SQRT2) - 0.9) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_one_file_that_may_load_nothing),
		cmocka_unit_test(no_text_leaves_its_place),
		cmocka_unit_test(a_value_that_is_not_there_is_refused),
		cmocka_unit_test(the_data_of_a_page_is_what_the_file_has),
		cmocka_unit_test(columns_have_the_tree_and_what_each_thread_cost),
		cmocka_unit_test(entries_know_the_lines_that_they_went_through),
		cmocka_unit_test(sources_are_the_lines_around_samples),
		cmocka_unit_test(the_limit_of_changes_is_as_likely_as_that_of_the_svg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
