/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/diff/diff.h"

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"

static const char *const names[] = {"old.wick", "new.wick"};

/* before: parse 40 %, write 60 %; after: parse 55 %, read 45 %, and twice as much of all. */
struct world {
	struct profile *sides[2];
	struct diff diff;
};

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){.sides = {make_profile(), make_profile()}};
	make_stack(world.sides[0], 0, "main;parse;lib_copy", 100);
	make_stack(world.sides[0], 0, "main;parse", 300);
	make_stack(world.sides[0], 0, "main;write", 600);
	make_stack(world.sides[1], 0, "main;parse;lib_copy", 700);
	make_stack(world.sides[1], 0, "main;parse", 400);
	make_stack(world.sides[1], 0, "main;read", 900);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	diff_fini(&world->diff);
	profile_free(world->sides[0]);
	profile_free(world->sides[1]);
	return 0;
}

static void compare(struct world *world, bool absolute)
{
	assert_int_equal(diff_init(&world->diff, (const struct profile *const *)world->sides, names,
				   absolute ? DIFF_AMOUNTS : DIFF_USUAL, NULL),
			 0);
}

static char *write_diff(const struct world *world, struct diff_options options)
{
	struct bytes out = {0};

	assert_int_equal(diff_write(&world->diff, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_false(out.failed);
	return (char *)out.data;
}

static void assert_parts(const struct world *world, struct diff_options options,
			 const char *const *parts)
{
	char *text = write_diff(world, options);
	const char *at = text;

	for (; *parts; parts++) { /* one after the other */
		const char *found = strstr(at, *parts);

		if (!found)
			fail_msg("no %s in %s", *parts, at);
		at = found + strlen(*parts);
	}
	free(text);
}

static void shares_are_compared_whatever_the_length(void **state)
{
	static const char *const parts[] = {
		"before old.wick: 10.0 s recorded, 1,000 samples, cpu 10.0 s\n",
		"after  new.wick: 20.0 s recorded, 2,000 samples, cpu 20.0 s\n",
		"60.0%     0.0%   -60.0 pp      gone  >99.9%",
		"write (app)\n",
		"0.0%    45.0%   +45.0 pp       new  >99.9%",
		"read (app)\n",
		"10.0%    35.0%   +25.0 pp   +250.0%  >99.9%",
		"lib_copy (libdemo.so.1)\n",
		"30.0%    20.0%   -10.0 pp    -33.3%  >99.9%     40.0%    55.0%   +15.0 pp",
		"parse (app)\n",
		"main (app)\n",
		NULL,
	};
	struct world *world = *state;

	compare(world, false);
	assert_parts(world, (struct diff_options){.all = true}, parts);
}

static void the_totals_come_first(void **state)
{
	static const char *const parts[] = {
		"total             before     after     change  relative    sure\n"
		"CPU time          10.0 s    20.0 s    +10.0 s   +100.0%  >99.9%\n"
		"wall time         10.0 s    20.0 s    +10.0 s   +100.0%       -\n",
		"comparing shares of the total",
		"write (app)\n",
		NULL,
	};
	static const char *const json[] = {"\"totals\": [",
					   "\"name\": \"cpu\"",
					   "\"change_percent\": 100.000",
					   "\"confidence\": 100",
					   "\"name\": \"duration\"",
					   "\"confidence\": null",
					   "\"rows\"",
					   NULL};
	struct world *world = *state;

	compare(world, false);
	assert_parts(world, (struct diff_options){0}, parts);
	assert_parts(world, (struct diff_options){.format = DIFF_JSON}, json);
}

/* The share of main is all of both: nothing is sure of it. Programs judge for themselves. */
static void what_may_be_noise_is_counted_and_shown_when_asked_for(void **state)
{
	static const char *const noise =
		"1 function changed by no more than noise (below 95% confidence); --all shows it\n";
	struct world *world = *state;
	char *text;

	compare(world, false);
	text = write_diff(world, (struct diff_options){0});
	assert_null(strstr(text, "main (app)"));
	assert_non_null(strstr(text, noise));
	free(text);
	text = write_diff(world, (struct diff_options){.all = true});
	assert_non_null(strstr(text, "main (app)"));
	assert_null(strstr(text, "noise"));
	free(text);
	text = write_diff(world, (struct diff_options){.format = DIFF_CSV});
	assert_non_null(strstr(text, "\n\"main\""));
	free(text);
}

static void amounts_are_compared_when_asked_for(void **state)
{
	static const char *const parts[] = {
		"comparing amounts; --normalized compares shares of the total\n",
		"0    9.00 s    +9.00 s       new",
		"read (app)\n",
		"parse (app)\n",
		"10.0 s    20.0 s    +10.0 s   +100.0%  >99.9%  main (app)\n",
		NULL,
	};
	struct world *world = *state;

	compare(world, true);
	assert_parts(world, (struct diff_options){0}, parts);
}

static void rows_come_in_the_order_asked_for(void **state)
{
	static const struct {
		enum diff_sort sort;
		const char *parts[6];
	} cases[] = {
		{DIFF_BY_SELF, {"write (", "read (", "lib_copy (", "parse (", "main ("}},
		{DIFF_BY_TOTAL, {"write (", "read (", "lib_copy (", "parse (", "main ("}},
		{DIFF_BY_BEFORE, {"main (", "write (", "parse (", "lib_copy (", "read ("}},
		{DIFF_BY_AFTER, {"main (", "parse (", "read (", "lib_copy (", "write ("}},
		{DIFF_BY_NAME, {"lib_copy (", "main (", "parse (", "read (", "write ("}},
	};
	struct world *world = *state;
	size_t i;

	compare(world, false);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_parts(world, (struct diff_options){.sort = cases[i].sort, .all = true},
			     cases[i].parts);
}

static void rows_beyond_the_limit_are_counted(void **state)
{
	static const char *const parts[] = {"read (app)\n3 more functions; -n 0 shows all\n", NULL};
	static const char *const json[] = {"\"more\": 3", NULL};
	struct world *world = *state;

	compare(world, false);
	assert_parts(world, (struct diff_options){.limit = 2, .all = true}, parts);
	assert_parts(world, (struct diff_options){.limit = 2, .format = DIFF_JSON}, json);
}

static void programs_read_json_and_csv(void **state)
{
	static const char *const json[] = {
		"\"file\": \"old.wick\"",   "\"total\": 10000000000", "\"compares\": \"shares\"",
		"\"name\": \"write\"",      "\"state\": \"gone\"",    "\"name\": \"read\"",
		"\"change_percent\": null", "\"gates\": []",          NULL,
	};
	static const char *const csv[] = {
		"name,module,file,state,self_before,",
		"\n\"write\",\"/usr/bin/app\",\"app.c\",gone,6000000000,0,60.000,0.000,-60.000,"
		"-100.000,100.000,",
		"\n\"read\",\"/usr/bin/app\",\"app.c\",new,0,9000000000,0.000,45.000,45.000,,",
		NULL,
	};
	struct world *world = *state;

	compare(world, false);
	assert_parts(world, (struct diff_options){.format = DIFF_JSON}, json);
	assert_parts(world, (struct diff_options){.format = DIFF_CSV}, csv);
}

static void sure_changes_are_coloured_and_signed(void **state)
{
	static const char *const parts[] = {"\033[34m   -60.0 pp", "\033[31m   +45.0 pp", NULL};
	struct world *world = *state;

	compare(world, false);
	assert_parts(world, (struct diff_options){.color = true}, parts);
}

static void what_is_not_the_same_is_refused(void **state)
{
	static const struct value_type types[] = {{"samples", "count"}, {"off-cpu", "nanoseconds"}};
	struct world *world = *state;
	struct error err = {0};

	profile_free(world->sides[1]);
	world->sides[1] = NULL;
	assert_int_equal(profile_new(types, 2, &world->sides[1]), 0);
	world->sides[1]->main_value = 1;
	assert_int_equal(diff_init(&world->diff, (const struct profile *const *)world->sides, names,
				   DIFF_USUAL, &err),
			 -EINVAL);
	assert_string_equal(err.text,
			    "old.wick measures cpu (nanoseconds), new.wick measures off-cpu "
			    "(nanoseconds): they cannot be compared");
	assert_non_null(strstr(err.remedy, "--mode"));
}

static void counts_are_compared_where_nothing_else_is_known(void **state)
{
	static const char *const parts[] = {"one side has only sample counts", "-60.0 pp", "write",
					    NULL};
	static const struct value_type types[] = {{"samples", "count"}};
	struct world *world = *state;
	uint32_t at;

	profile_free(world->sides[1]);
	world->sides[1] = NULL;
	assert_int_equal(profile_new(types, 1, &world->sides[1]), 0);
	(void)profile_thread(world->sides[1], 0, 0, "app", "app");
	at = stack_tree_child(&world->sides[1]->stacks, 0,
			      make_location(world->sides[1], (char[]){"main"}));
	assert_int_equal(profile_add(world->sides[1], at, 0, (int64_t[]){10}), 0);
	compare(world, false);
	assert_true(world->diff.counted);
	assert_parts(world, (struct diff_options){.sort = DIFF_BY_NAME}, parts);
}

static void nothing_is_no_change(void **state)
{
	static const char *const parts[] = {"no samples: both profiles are empty", NULL};
	struct world *world = *state;
	int i;

	for (i = 0; i < 2; i++) {
		profile_free(world->sides[i]);
		world->sides[i] = make_profile();
	}
	compare(world, false);
	assert_parts(world, (struct diff_options){0}, parts);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(shares_are_compared_whatever_the_length),
		TEST(the_totals_come_first),
		TEST(what_may_be_noise_is_counted_and_shown_when_asked_for),
		TEST(amounts_are_compared_when_asked_for),
		TEST(rows_come_in_the_order_asked_for),
		TEST(rows_beyond_the_limit_are_counted),
		TEST(programs_read_json_and_csv),
		TEST(sure_changes_are_coloured_and_signed),
		TEST(what_is_not_the_same_is_refused),
		TEST(counts_are_compared_where_nothing_else_is_known),
		TEST(nothing_is_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
