/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/diff/diff_gate.h"

#include <math.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "view/diff/diff.h"

static const char *const names[] = {"old.wick", "new.wick"};

static void the_form_is_read(void **state)
{
	static const struct {
		const char *text;
		const char *name;
		enum gate_subject subject;
		double limit;
		bool self;
		bool points;
		bool is_expression;
	} cases[] = {
		{"parse>+5%", "parse", GATE_FUNCTION, 0.05, false, false, false},
		{"parse>5%", "parse", GATE_FUNCTION, 0.05, false, false, false},
		{" parse > + 2.5 pp ", "parse", GATE_FUNCTION, 0.025, false, true, false},
		{"self:parse>+0%", "parse", GATE_FUNCTION, 0, true, false, false},
		{"self:/^js/>+1e1%", "^js", GATE_FUNCTION, 0.1, true, false, true},
		{"operator>>+5%", "operator>", GATE_FUNCTION, 0.05, false, false, false},
		{"vec<a<b>>::f(c)>+5%", "vec<a<b>>::f(c)", GATE_FUNCTION, 0.05, false, false,
		 false},
		{"total>+3%", "total", GATE_TOTAL, 0.03, false, false, false},
		{"rate>+3%", "rate", GATE_RATE, 0.03, false, false, false},
		{"self:total>+3%", "total", GATE_FUNCTION, 0.03, true, false, false},
		{"/total/>+3%", "total", GATE_FUNCTION, 0.03, false, false, true},
		{"/>+3%", "/", GATE_FUNCTION, 0.03, false, false, false},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diff_gate gate;

		if (diff_gate_parse(cases[i].text, &gate, NULL) != 0)
			fail_msg("%s", cases[i].text);
		assert_string_equal(gate.name, cases[i].name);
		assert_int_equal(gate.subject, cases[i].subject);
		assert_true(fabs(gate.limit - cases[i].limit) < 1e-12);
		assert_int_equal(gate.self, cases[i].self);
		assert_int_equal(gate.points, cases[i].points);
		assert_int_equal(gate.is_expression, cases[i].is_expression);
		diff_gate_fini(&gate);
	}
}

static void a_bad_form_is_refused_with_the_right_one(void **state)
{
	static const char *const cases[] = {
		"",           "parse",      "parse>",     "parse>+5",   "parse>%",    "parse>+%",
		"parse>-5%",  "parse>+-5%", "parse>++5%", ">+5%",       " >+5%",      "self:>+5%",
		"parse<+5%",  "parse>x%",   "parse>nan%", "parse>inf%", "total>+1pp", "rate>+1pp",
		"parse>1e9%", "/(/>+5%",    "self: >+5%",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diff_gate gate;
		struct error err = {0};

		if (diff_gate_init(&gate, cases[i], &err) != -EINVAL)
			fail_msg("%s is taken", cases[i]);
		assert_non_null(strstr(err.text, "invalid gate "));
		assert_non_null(strstr(err.remedy, "'FUNCTION>+5%'"));
	}
}

/* parse went from 20 % to 25 % of the time, lib_copy from 10 % to 15 %, and all take longer. */
struct world {
	struct profile *sides[2];
	struct diff diff;
};

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){.sides = {make_profile(), make_profile()}};
	make_stack(world.sides[0], 0, "main;parse(int);lib_copy", 1000);
	make_stack(world.sides[0], 0, "main;parse(int)", 1000);
	make_stack(world.sides[0], 0, "main;write", 8000);
	make_stack(world.sides[1], 0, "main;parse(int);lib_copy", 1650);
	make_stack(world.sides[1], 0, "main;parse(int)", 1100);
	make_stack(world.sides[1], 0, "main;write", 8250);
	assert_int_equal(diff_init(&world.diff, (const struct profile *const *)world.sides, names,
				   DIFF_USUAL, NULL),
			 0);
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

/* Whether the gate trips, and that its line has the words. */
static bool trips(const struct world *world, const char *text, const char *words)
{
	struct diff_gate gate;
	struct diff_verdict verdict;
	struct bytes line = {0};

	assert_int_equal(diff_gate_init(&gate, text, NULL), 0);
	assert_int_equal(diff_gate_check(&gate, &world->diff, 0.99, &verdict, NULL), 0);
	diff_verdict_put(&verdict, &line);
	bytes_put_u8(&line, '\0');
	if (!strstr((char *)line.data, words))
		fail_msg("no %s in %s", words, (char *)line.data);
	bytes_fini(&line);
	diff_gate_fini(&gate);
	return verdict.tripped;
}

static void percent_are_relative_and_points_are_of_the_whole(void **state)
{
	struct world *world = *state;

	assert_true(trips(world, "parse>+15%",
			  "gate parse>+15% tripped: parse(int): 20.00% before, 25.00% after "
			  "(+5.0 pp, +25.0%); above the limit with >99.9% confidence"));
	assert_false(trips(world, "parse>+24%", "below the required 99%: it may be noise"));
	assert_false(trips(world, "parse>+30%", "holds: parse(int): 20.00% before"));
	assert_true(trips(world, "parse>+3pp", "parse(int)"));
	assert_false(trips(world, "parse>+6pp", "not above the limit"));
	assert_false(trips(world, "write>+0%", "(-5.0 pp, -6.2%); not above the limit"));
}

static void self_leaves_out_what_is_called(void **state)
{
	struct world *world = *state;

	assert_false(trips(world, "self:parse>+2%", "parse(int) (self): 10.00% before, 10.00%"));
	assert_true(trips(world, "self:lib_copy>+20%", "lib_copy (self): 10.00% before, 15.00%"));
}

static void functions_that_match_are_counted_together(void **state)
{
	struct world *world = *state;

	/* Stacks with both count once. */
	assert_true(trips(world, "/^(parse|lib_)/>+15%", ": 20.00% before, 25.00% after"));
	assert_false(trips(world, "/./>+1%", "and 1 more: 100.00% before, 100.00% after"));
}

static void the_total_is_no_share(void **state)
{
	struct world *world = *state;

	assert_true(trips(world, "total>+3%", "the total: 100.0 s before, 110.0 s after (+10.0%)"));
	assert_false(trips(world, "total>+12%", "not above the limit"));
	/* It was recorded for longer as well. */
	assert_false(trips(world, "rate>+3%", "rate per second: 1.00 s before, 1.00 s after"));
}

static void an_unknown_function_is_told(void **state)
{
	struct world *world = *state;

	assert_false(trips(world, "pars>+5%",
			   "cannot be checked: no function in either profile is named pars"));
	assert_false(trips(world, "/^x/>+5%", "no function in either profile matches ^x"));
}

static void a_rate_needs_a_duration(void **state)
{
	struct world *world = *state;
	struct diff_gate gate;
	struct diff_verdict verdict;
	struct error err = {0};

	world->sides[0]->duration_ns = 0;
	assert_int_equal(diff_gate_init(&gate, "rate>+5%", NULL), 0);
	assert_int_equal(diff_gate_check(&gate, &world->diff, 0.99, &verdict, &err), -EINVAL);
	assert_non_null(strstr(err.text, "old.wick has no duration"));
	diff_gate_fini(&gate);
}

static void without_names_nothing_is_said_about_functions(void **state)
{
	struct world *world = *state;
	struct diff_gate gate;
	struct diff_verdict verdict;
	struct error err = {0};

	world->sides[0]->quality.unsymbolised = 6000; /* of 10,000 */
	assert_int_equal(diff_gate_init(&gate, "parse>+5%", NULL), 0);
	assert_int_equal(diff_gate_check(&gate, &world->diff, 0.99, &verdict, &err), -ENODATA);
	assert_string_equal(err.text, "cannot check the gate parse>+5%: 60.0% of the samples "
				      "of old.wick have no symbol");
	assert_non_null(strstr(err.remedy, "--symbol-path"));
	diff_gate_fini(&gate);
	assert_true(trips(world, "total>+3%", "the total")); /* which needs none */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_form_is_read),
		cmocka_unit_test(a_bad_form_is_refused_with_the_right_one),
		TEST(percent_are_relative_and_points_are_of_the_whole),
		TEST(self_leaves_out_what_is_called),
		TEST(functions_that_match_are_counted_together),
		TEST(the_total_is_no_share),
		TEST(an_unknown_function_is_told),
		TEST(a_rate_needs_a_duration),
		TEST(without_names_nothing_is_said_about_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
