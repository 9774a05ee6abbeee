/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame.h"

#include <math.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "model/profile_pair.h"
#include "well_formed.h"

static char *flame(const struct profile *profile, const struct flame_options *options)
{
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(flame_write(profile, options, &out, &err), 0);
	bytes_put_u8(&out, '\0');
	assert_false(out.failed);
	assert_true(is_well_formed((char *)out.data));
	return (char *)out.data;
}

static struct profile *program(void)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 107, "worker", "app");

	make_stack(profile, 0, "main;serve;parse;lib_memcpy", 31);
	make_stack(profile, 0, "main;serve;parse", 24);
	make_stack(profile, 0, "main;serve;reply;sys_write", 12);
	make_stack(profile, worker, "run;visit;visit;jit_add", 7);
	make_stack(profile, worker, "[truncated];visit;0x7f001234", 5);
	make_stack(profile, worker, "run;operator<&", 3);
	return profile;
}

static void every_frame_is_drawn_with_its_words(void **state)
{
	static const char *const parts[] = {
		"width=\"1200\"",
		">main</text>",
		"<title>lib_memcpy\nlibdemo.so.1 · 31 samples · 310.0 ms · 37.8%, self "
		"37.8%</title>",
		"<title>operator&lt;&amp;\n",
		">app --demo</text>",
		"cpu 820.0 ms · 82 samples",
		">program</text>",
		">library</text>",
		">kernel</text>",
		">JIT</text>",
		">no symbol</text>",
		">truncated</text>",
		"<title>[truncated]\n",
		"<title>serve\napp · 67 samples · 670.0 ms · 81.7%\napp.c</title>",
		"aria-label=\"flame graph of app --demo: cpu 820.0 ms · 82 samples\"",
		"\n<title>app --demo</title>\n<metadata>{&quot;wick&quot;:&quot;",
		"&quot;drawn&quot;:{&quot;value&quot;:&quot;cpu&quot;",
	};
	struct profile *profile = program();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	char *svg = flame(profile, &options);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(svg, parts[i]))
			fail_msg("no %s in the SVG", parts[i]);
	assert_null(strstr(svg, "are left out"));
	free(svg);
	profile_free(profile);
}

/* One drawn box: the row's place, its edges. */
struct drawn {
	int y;
	double left;
	double right;
};

static size_t read_boxes(const char *svg, struct drawn *boxes, size_t max)
{
	const char *at = strstr(svg, "class=\"frames\"");
	size_t count = 0;
	int y = -1;

	assert_non_null(at);
	while ((at = strchr(at + 1, '<')) && strncmp(at, "<metadata", 9) != 0) {
		double width = 0;

		if (sscanf(at, "<g transform=\"translate(0 %d)\">", &y) == 1)
			continue;
		if (strncmp(at, "<rect", 5) != 0)
			continue;
		assert_true(count < max);
		assert_int_equal(
			sscanf(at, "<rect x=\"%lf\" width=\"%lf\"", &boxes[count].left, &width), 2);
		boxes[count].y = y;
		boxes[count].right = boxes[count].left + width;
		count++;
	}
	return count;
}

static void assert_nested(const struct drawn *boxes, size_t count, int up)
{
	size_t i;
	size_t k;

	for (i = 1; i < count; i++) {
		bool held = false;

		for (k = 0; k < i; k++)
			held = held || (boxes[k].y == boxes[i].y + up &&
					boxes[k].left <= boxes[i].left + 1e-6 &&
					boxes[k].right >= boxes[i].right - 1e-6);
		assert_true(held);
		if (boxes[i].y == boxes[i - 1].y)
			assert_true(boxes[i].left >= boxes[i - 1].right - 1e-6);
	}
}

static void boxes_stand_on_their_parents(void **state)
{
	struct profile *profile = program();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	struct drawn boxes[64];
	char *svg = flame(profile, &options);
	size_t count = read_boxes(svg, boxes, ARRAY_SIZE(boxes));

	assert_int_equal(count, 15);
	assert_nested(boxes, count, 18); /* a child is one row above */
	assert_int_equal(boxes[0].y, 72);
	assert_true(fabs(boxes[0].right - boxes[0].left - 1180) < 1e-6);
	free(svg);
	options.icicle = true;
	options.group = CALL_TREE_BY_THREAD;
	svg = flame(profile, &options);
	count = read_boxes(svg, boxes, ARRAY_SIZE(boxes));
	assert_int_equal(count, 17);
	assert_nested(boxes, count, -18);
	assert_int_equal(boxes[0].y, 0);
	free(svg);
	profile_free(profile);
}

static void the_other_way_is_there_without_places_and_labels(void **state)
{
	struct profile *profile = program();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	char *svg = flame(profile, &options);
	const char *other = strstr(svg, "data-inverted=\"1\"");

	assert_non_null(other);
	assert_non_null(strstr(svg, "data-inverted=\"0\""));
	/* parse has 24 of its own and 31 below it: its callers from the leaf have 24. */
	assert_non_null(
		strstr(other, "\t\t\t\tparse\napp · 24 samples · 240.0 ms · 29.3%\napp.c\n\n"));
	assert_null(strstr(other, "<rect x=\"10\" width=\"1180\""));
	free(svg);
	options.inverted = true;
	svg = flame(profile, &options);
	other = strstr(svg, "data-inverted=\"0\"");
	assert_non_null(other);
	assert_true(strstr(svg, "data-inverted=\"1\"") < other);
	assert_non_null(strstr(other, "\tparse\napp · 55 samples · 550.0 ms · 67.1%, self 29.3%"));
	free(svg);
	profile_free(profile);
}

/* Whether the tag that what follows it tells apart has a part. */
static bool tag_has(const char *svg, const char *part, const char *follows)
{
	const char *end = strstr(svg, follows);
	const char *tag = end;
	const char *at;

	while (tag && tag > svg && *tag != '<')
		tag--;
	at = tag ? strstr(tag, part) : NULL;
	return at && at < end;
}

static void inlined_frames_are_marked(void **state)
{
	struct profile *profile = make_profile();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	bool inverted;

	make_stack(profile, 0, "main>small", 10);
	make_stack(profile, 0, "main;lib_sort>compare", 20);
	make_stack(profile, 0, "main;lib_sort;compare", 5); /* called as well */
	for (inverted = false;; inverted = true) {
		char *svg;

		options.inverted = inverted;
		svg = flame(profile, &options);
		assert_true(tag_has(svg, " in\"", "><title>small\napp · inlined · 10 samples"));
		assert_non_null(strstr(svg, "><title>compare\napp · 25 samples"));
		assert_false(tag_has(svg, " in\"", "><title>compare\napp · 25 samples"));
		assert_non_null(strstr(svg, ">inlined</text>"));
		free(svg);
		if (inverted)
			break;
	}
	profile_free(profile);
}

static void colors_have_a_legend_and_patterns(void **state)
{
	static const struct {
		enum flame_colors colors;
		const char *part;
	} cases[] = {
		{FLAME_COLORS_HEAT, "class=\"h6\"/><text"},
		{FLAME_COLORS_HEAT, ">10% and more</text>"},
		{FLAME_COLORS_CVD, ">library</text>"},
		{FLAME_COLORS_CONTRAST, "<pattern id=\"wick-l\""},
		{FLAME_COLORS_CONTRAST, ".wick-flame .l { fill: url(#wick-l); }"},
		{FLAME_COLORS_LANGUAGE, ">kernel</text>"},
		{FLAME_COLORS_LANGUAGE, ">C</text>"},
		{FLAME_COLORS_MODULE, "height=\"17\" fill=\"#"},
	};
	struct profile *profile = program();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flame_options options = FLAME_OPTIONS_DEFAULT;
		char *svg;

		options.colors = cases[i].colors;
		svg = flame(profile, &options);
		if (!strstr(svg, cases[i].part))
			fail_msg("no %s in the SVG", cases[i].part);
		free(svg);
	}
	profile_free(profile);
}

static void narrow_boxes_are_counted_instead(void **state)
{
	struct profile *profile = program();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	bool inverted;

	options.min_width_px = 100;
	for (inverted = false;; inverted = true) {
		char *svg;

		options.inverted = inverted;
		svg = flame(profile, &options);
		assert_non_null(strstr(svg, "branches narrower than 100 px are left out"));
		assert_null(strstr(svg, "<title>operator"));
		free(svg);
		if (inverted)
			break;
	}
	profile_free(profile);
}

static void hostile_names_stay_names(void **state)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>",
		"]]><script>alert(2)</script>",
		"\"'><img src=x onerror=alert(3)>",
		"&lt;&#x41;&nbsp;",
		"\x1b[31mred\x07\x01",
		"\xff\xfe\xc3(\xed\xa0\x80",
		"\xe2\x80\xae rtl \xe2\x81\xa6",
		"two\nlines\r\ttab",
		"\xef\xbf\xbe\xef\xbf\xbf",
		"",
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
	};
	enum flame_colors colors;
	size_t i;

	for (colors = FLAME_COLORS_CATEGORY; colors <= FLAME_COLORS_LANGUAGE; colors++) {
		struct profile *profile = make_profile();
		struct flame_options options = FLAME_OPTIONS_DEFAULT;
		const char *part;
		char *svg;
		size_t scripts = 0;

		for (i = 0; i < ARRAY_SIZE(names); i++) {
			struct profile_line line = {
				.function = profile_function(profile, names[i], "", names[i], 0)};
			uint32_t at = profile_location(profile, "", i, &line, 1);
			uint32_t thread =
				profile_thread(profile, 1, (uint32_t)i, names[i], names[i]);

			assert_int_equal(profile_add(profile,
						     stack_tree_child(&profile->stacks, 0, at),
						     thread, (int64_t[]){1, 1}),
					 0);
		}
		profile->title = names[0];
		options.title = colors ? names[1] : NULL;
		options.colors = colors;
		options.group = CALL_TREE_BY_THREAD;
		svg = flame(profile, &options);
		for (part = svg; (part = strstr(part, "<script")); part++)
			scripts++;
		assert_int_equal(scripts, 1);
		free(svg);
		profile_free(profile);
	}
}

static void a_name_of_ten_kilobytes_is_cut(void **state)
{
	struct profile *profile = make_profile();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	struct bytes name = {0};
	char *svg;
	int i;

	for (i = 0; i < 2500; i++)
		bytes_put(&name, "a<&'", 4);
	bytes_put_u8(&name, '\0');
	make_stack(profile, 0, (char *)name.data, 1);
	svg = flame(profile, &options);
	assert_non_null(strstr(svg, "..</text>"));
	assert_non_null(strstr(svg, "..\n")); /* the tooltip */
	free(svg);
	bytes_fini(&name);
	profile_free(profile);
}

static void an_empty_profile_is_a_picture_that_says_so(void **state)
{
	struct profile *profile = make_profile();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	char *svg = flame(profile, &options);

	assert_non_null(strstr(svg, "no samples</text>"));
	free(svg);
	profile_free(profile);
}

static void ten_thousand_rows_are_drawn(void **state)
{
	struct profile *profile = make_profile();
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	char name[32];
	uint32_t stack = 0;
	char *svg;
	int i;

	for (i = 0; i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "deep%d", i);
		stack = stack_tree_child(&profile->stacks, stack, make_location(profile, name));
	}
	assert_int_equal(profile_add(profile, stack, 0, (int64_t[]){1, 1}), 0);
	svg = flame(profile, &options);
	assert_non_null(strstr(svg, ">deep9999</text>"));
	free(svg);
	profile_free(profile);
}

static void impossible_sizes_are_refused(void **state)
{
	static const struct {
		uint32_t width_px;
		double min_width_px;
	} cases[] = {{0, 0.5}, {199, 0.5}, {100001, 0.5}, {1200, -1}, {1200, 101}, {1200, NAN}};
	struct profile *profile = make_profile();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flame_options options = FLAME_OPTIONS_DEFAULT;
		struct bytes out = {0};
		struct error err = {0};

		options.width_px = cases[i].width_px;
		options.min_width_px = cases[i].min_width_px;
		assert_int_equal(flame_write(profile, &options, &out, &err), -ERANGE);
		assert_non_null(strstr(err.text, "px"));
		assert_non_null(strstr(err.remedy, "give "));
		bytes_fini(&out);
	}
	profile_free(profile);
}

/* before: parse 40, old 60; after: parse 90, fresh 60 and read 50. */
static struct profile_pair changed(struct profile **sides)
{
	struct profile_pair pair;

	sides[0] = make_profile();
	sides[1] = make_profile();
	make_stack(sides[0], 0, "main;parse;lib_copy", 300);
	make_stack(sides[0], 0, "main;parse", 100);
	make_stack(sides[0], 0, "main;old", 600);
	make_stack(sides[1], 0, "main;parse;lib_copy", 300);
	make_stack(sides[1], 0, "main;parse", 600);
	make_stack(sides[1], 0, "main;fresh", 600);
	make_stack(sides[1], 0, "main;read", 500);
	assert_int_equal(
		profile_pair_init(&pair, (const struct profile *const *)sides, (uint32_t[]){1, 1}),
		0);
	return pair;
}

static void a_comparison_tells_what_is_more_less_new_and_gone(void **state)
{
	static const char *const parts[] = {
		"data-total=\"20000000000 10000000000\" data-absolute=\"0\"",
		"cpu 10.0 s → 20.0 s · 1,000 → 2,000 samples",
		/* The first box of a row; only before. */
		"<rect display=\"none\" class=\"d4 gone\"\n"
		"data-v=\"0 0,0 6000000000 6000000000\" data-c=\"d4 d4\" "
		"data-s=\"gone -60.0 pp|gone -6.00 s\"><title>old\n"
		"app · 600 → 0 samples\nshare 60.0% → 0.0%: -60.0 pp, gone\n"
		"cpu 6.00 s → 0: -6.00 s, gone\napp.c</title>",
		",6000000000 4000000000 1000000000\" data-c=\"m3 m4\" data-s=\"+5.0 pp|+5.00 "
		"s\"><title>parse",
		">parse +5.0 pp</text>",
		"<title>lib_copy\nlibdemo.so.1 · 300 → 300 samples\n"
		"share 30.0% → 15.0%: -15.0 pp, -50.0%\ncpu 3.00 s → 3.00 s: 0, 0.0%</title>",
		">lib_copy -15.0 pp</text>",
		"dashed: 2 new, 1 gone",
		">more</text>",
	};
	struct profile *sides[2];
	struct profile_pair pair = changed(sides);
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	char *svg;
	size_t i;

	options.pair = true;
	options.colors = FLAME_COLORS_RED_BLUE;
	svg = flame(pair.both, &options);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(svg, parts[i]))
			fail_msg("no %s in the SVG %s", parts[i], strstr(svg, "class=\"frames\""));
	assert_non_null(strstr(svg, ">fresh new +30.0 pp</text>"));
	assert_non_null(strstr(svg, ".wick-flame .m4 { fill: #e86450; }"));
	free(svg);
	options.colors = FLAME_COLORS_ORANGE_BLUE;
	options.absolute = true;
	svg = flame(pair.both, &options);
	assert_non_null(strstr(svg, ".wick-flame .m4 { fill: #e0891b; }"));
	assert_non_null(strstr(svg, ">parse +5.00 s</text>"));
	free(svg);
	profile_pair_fini(&pair);
	profile_free(sides[0]);
	profile_free(sides[1]);
}

static void boxes_of_a_comparison_are_in_their_parents_on_both_sides(void **state)
{
	static const char *const places[] = {"data-v=\"", ","};
	struct profile *sides[2];
	struct profile_pair pair = changed(sides);
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	int inverted;
	int side;

	options.pair = true;
	for (inverted = 0; inverted < 2; inverted++) {
		char *svg;

		options.inverted = inverted != 0;
		svg = flame(pair.both, &options);
		*strstr(svg, "<metadata class=\"hidden\"") = '\0'; /* the other way */
		for (side = 0; side < 2; side++) {
			struct drawn boxes[64];
			size_t count = 0;
			const char *at = svg;
			int y = 0;

			while ((at = strchr(at + 1, '<'))) {
				double begin = 0;
				double width = 0;
				const char *place = strstr(at, "data-v=\"");

				(void)sscanf(at, "<g transform=\"translate(0 %d)\">", &y);
				if (strncmp(at, "<rect", 5) != 0 || !place ||
				    place > strchr(at, '>'))
					continue;
				place = strstr(place, places[side]);
				assert_int_equal(sscanf(place + strlen(places[side]), "%lf %lf",
							&begin, &width),
						 2);
				assert_true(count < 64);
				if (width > 0)
					boxes[count++] = (struct drawn){y, begin, begin + width};
			}
			assert_true(count >= 5);
			assert_nested(boxes, count, 18);
		}
		free(svg);
	}
	profile_pair_fini(&pair);
	profile_free(sides[0]);
	profile_free(sides[1]);
}

static void an_empty_side_is_drawn_as_nothing(void **state)
{
	struct profile *sides[2] = {make_profile(), make_profile()};
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	int side;

	make_stack(sides[0], 0, "main;f", 5);
	options.pair = true;
	for (side = 0; side < 2; side++) {
		const struct profile *both[2] = {sides[side], sides[1 - side]};
		struct profile_pair pair;
		char *svg;

		assert_int_equal(profile_pair_init(&pair, both, (uint32_t[]){1, 1}), 0);
		svg = flame(pair.both, &options);
		assert_non_null(strstr(svg, "<title>f\n"));
		assert_true(side == 1 || strstr(svg, "no samples after"));
		free(svg);
		profile_pair_fini(&pair);
	}
	profile_free(sides[0]);
	profile_free(sides[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_frame_is_drawn_with_its_words),
		cmocka_unit_test(boxes_stand_on_their_parents),
		cmocka_unit_test(the_other_way_is_there_without_places_and_labels),
		cmocka_unit_test(inlined_frames_are_marked),
		cmocka_unit_test(colors_have_a_legend_and_patterns),
		cmocka_unit_test(narrow_boxes_are_counted_instead),
		cmocka_unit_test(hostile_names_stay_names),
		cmocka_unit_test(a_name_of_ten_kilobytes_is_cut),
		cmocka_unit_test(an_empty_profile_is_a_picture_that_says_so),
		cmocka_unit_test(ten_thousand_rows_are_drawn),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(a_comparison_tells_what_is_more_less_new_and_gone),
		cmocka_unit_test(boxes_of_a_comparison_are_in_their_parents_on_both_sides),
		cmocka_unit_test(an_empty_side_is_drawn_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
