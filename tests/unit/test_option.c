/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/option_value.h"

enum color { COLOR_RED, COLOR_GREEN };

struct inner {
	bool demangle;
};

struct demo {
	uint64_t frequency_hz;
	double overhead;
	bool all;
	bool verbose;
	bool kernel;
	const char *output;
	const char *engine;
	struct option_list only;
	struct option_list labels;
	struct option_numbers pids;
	enum color color;
	uint64_t duration_ns;
	uint64_t step_ns;
	uint64_t memory_bytes;
	struct inner inner;
};

static const struct option_spec inner_table[] = {
	{"demangle", 0, OPTION_TOGGLE(struct inner, demangle), .help = "demangle"},
	OPTION_END,
};

static const struct option_spec table[] = {
	{"frequency", 'F', OPTION_U64(struct demo, frequency_hz), .argument = "HZ", .min = 10,
	 .max = 10000, .help = "rate"},
	{"rate", 'r', OPTION_ALIAS("frequency")},
	{NULL, 'g', OPTION_IGNORED},
	{"overhead", 0, OPTION_DOUBLE(struct demo, overhead), .min = 0.1, .max = 50, .off = "off",
	 .help = "budget"},
	{"all", 'a', OPTION_FLAG(struct demo, all), .help = "all"},
	{"verbose", 'v', OPTION_FLAG(struct demo, verbose), .help = "more"},
	{"kernel", 0, OPTION_TOGGLE(struct demo, kernel), .help = "kernel"},
	{"output", 'o', OPTION_STRING(struct demo, output), .argument = "FILE", .help = "file"},
	{"engine", 0, OPTION_WORD(struct demo, engine, "auto", "perf"), .help = "engine"},
	{"only", 0, OPTION_LIST(struct demo, only), .argument = "RE", .help = "filter"},
	{"label", 0, OPTION_PAIRS(struct demo, labels), .argument = "K=V", .help = "label"},
	{"pid", 'p', OPTION_NUMBERS(struct demo, pids), .argument = "PID", .help = "pid"},
	{"color", 0, OPTION_ENUM(struct demo, color, "red", "green"), .help = "color"},
	{"duration", 'd', OPTION_DURATION(struct demo, duration_ns), .help = "time"},
	{"step", 0, OPTION_DURATION(struct demo, step_ns), .bare_ns = NS_PER_MS, .help = "step"},
	{"memory", 0, OPTION_SIZE(struct demo, memory_bytes), .min = 4096, .help = "size"},
	{OPTION_GROUP(struct demo, inner, inner_table), .help = "Inner"},
	OPTION_END,
};

struct fixture {
	struct demo demo;
	struct option_set set;
	struct error err;
	char *argv[16];
};

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){.set.command = "demo",
				    .demo = {.frequency_hz = 997, .kernel = true}};
	fixture->demo.inner.demangle = true;
	assert_int_equal(option_set_add(&fixture->set, table, &fixture->demo, NULL, &fixture->err),
			 0);
}

static void end(struct fixture *fixture)
{
	option_set_fini(&fixture->set);
}

static int parse(struct fixture *fixture, const char *const *args, bool stop_early)
{
	int n;

	for (n = 0; args[n]; n++)
		fixture->argv[n] = (char *)(uintptr_t)args[n];
	return option_parse(&fixture->set, n, fixture->argv, stop_early, &fixture->err);
}

static void all_spellings_of_a_value_mean_the_same(void **state)
{
	static const char *const spellings[][3] = {
		{"-F99"}, {"-F", "99"},  {"--frequency=99"}, {"--frequency", "99"},
		{"-r99"}, {"--rate=99"}, {"-aF99"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spellings); i++) {
		struct fixture fixture;

		begin(&fixture);
		assert_int_equal(parse(&fixture, spellings[i], false), 0);
		assert_int_equal(fixture.demo.frequency_hz, 99);
		assert_int_equal(option_source_of(&fixture.set, &fixture.demo.frequency_hz),
				 OPTION_FROM_COMMAND_LINE);
		end(&fixture);
	}
}

static void every_kind_lands_in_its_member(void **state)
{
	struct fixture fixture;
	const struct demo *demo = &fixture.demo;

	begin(&fixture);
	assert_int_equal(parse(&fixture,
			       ARGS("-avg", "--no-kernel", "--overhead=0.5", "--color=green",
				    "-d1.5s", "--step=20", "--memory=64K", "-oX", "--no-demangle"),
			       false),
			 0);
	assert_true(demo->all && demo->verbose && !demo->kernel && !demo->inner.demangle);
	assert_true(demo->overhead == 0.5);
	assert_int_equal(demo->color, COLOR_GREEN);
	assert_int_equal(demo->duration_ns, 1500 * NS_PER_MS);
	assert_int_equal(demo->step_ns, 20 * NS_PER_MS);
	assert_int_equal(demo->memory_bytes, 65536);
	assert_string_equal(demo->output, "X");
	end(&fixture);
}

static void repeatable_options_add_up(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(
		parse(&fixture,
		      ARGS("--only=a", "--only=b", "--only=c", "-p1,2", "-p3", "--label=k=v=w"),
		      false),
		0);
	assert_int_equal(fixture.demo.only.count, 3);
	assert_string_equal(fixture.demo.only.items[0], "a");
	assert_string_equal(fixture.demo.only.items[2], "c");
	assert_int_equal(fixture.demo.pids.count, 3);
	assert_int_equal(fixture.demo.pids.items[2], 3);
	assert_string_equal(fixture.demo.labels.items[0], "k=v=w");
	end(&fixture);
}

static void options_may_follow_arguments(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(parse(&fixture, ARGS("one", "-a", "-", "--", "-v"), false), 3);
	assert_string_equal(fixture.argv[0], "one");
	assert_string_equal(fixture.argv[1], "-");
	assert_string_equal(fixture.argv[2], "-v");
	assert_null(fixture.argv[3]);
	assert_true(fixture.demo.all && !fixture.demo.verbose);
	end(&fixture);
}

static void options_of_a_program_to_run_are_left_alone(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(parse(&fixture, ARGS("-a", "ls", "-v", "--", "x"), true), 4);
	assert_string_equal(fixture.argv[0], "ls");
	assert_string_equal(fixture.argv[1], "-v");
	assert_string_equal(fixture.argv[2], "--");
	assert_false(fixture.demo.verbose);
	end(&fixture);
}

static void a_bad_value_names_option_value_and_range(void **state)
{
	static const struct {
		const char *args[3];
		const char *text;
	} cases[] = {
		{{"--frequency", "20000"}, "--frequency 20000 is out of range (10 to 10000)"},
		{{"-F", "9"}, "-F 9 is out of range (10 to 10000)"},
		{{"-F", "-5"}, "-F -5 is out of range (10 to 10000)"},
		{{"-d", "-1"}, "-d -1 is below 0"},
		{{"-F", "99999999999999999999999"},
		 "-F 99999999999999999999999 is out of range (10 to 10000)"},
		{{"-Fabc"}, "-F abc is not a whole number (10 to 10000)"},
		{{"-F", ""}, "-F  is not a whole number (10 to 10000)"},
		{{"--overhead=60"}, "--overhead 60 is out of range (0.1 to 50, or off)"},
		{{"--overhead=x"}, "--overhead x is not a number (0.1 to 50, or off)"},
		{{"--color=blue"}, "--color blue is not one of red, green"},
		{{"--engine=x"}, "--engine x is not one of auto, perf"},
		{{"-dx"}, "-d x is not a duration such as 2s, 1.5s, 20ms or 3m"},
		{{"--memory=x"},
		 "--memory x is not a size such as 4096, 64K, 10M or 2G (at least 4K)"},
		{{"--memory=1"}, "--memory 1 is out of range (at least 4K)"},
		{{"--label=x"}, "--label x is not of the form KEY=VALUE"},
		{{"-p1,x"}, "-p x is not a whole number"},
		{{"--frequency"}, "--frequency needs a value (HZ)"},
		{{"--duration"}, "--duration needs a value"},
		{{"--all=1"}, "--all takes no value"},
		{{"-az"}, "unknown option -z"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture fixture;

		begin(&fixture);
		assert_true(parse(&fixture, cases[i].args, false) < 0);
		assert_string_equal(fixture.err.text, cases[i].text);
		assert_string_equal(fixture.err.remedy, "see wick demo --help");
		end(&fixture);
	}
}

static void an_unknown_option_suggests_the_nearest(void **state)
{
	static const struct {
		const char *args[2];
		const char *remedy;
	} cases[] = {
		{{"--frequncy=1"}, "did you mean --frequency? see wick demo --help"},
		{{"--freq"}, "did you mean --frequency? see wick demo --help"},
		{{"--no-kernl"}, "did you mean --no-kernel? see wick demo --help"},
		{{"--no-all"}, "see wick demo --help"},
		{{"--something-else"}, "see wick demo --help"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture fixture;

		begin(&fixture);
		assert_true(parse(&fixture, cases[i].args, false) < 0);
		assert_non_null(strstr(fixture.err.text, cases[i].args[0]));
		assert_string_equal(fixture.err.remedy, cases[i].remedy);
		end(&fixture);
	}
}

static void the_word_off_stands_for_zero(void **state)
{
	struct fixture fixture;
	struct bytes shown = {0};

	begin(&fixture);
	fixture.demo.overhead = 2;
	assert_int_equal(parse(&fixture, ARGS("--overhead", "off"), false), 0);
	assert_true(fixture.demo.overhead == 0);
	option_put_value(&shown, option_set_find(&fixture.set, "overhead"));
	assert_int_equal(shown.size, 3);
	assert_memory_equal(shown.data, "off", 3);
	bytes_fini(&shown);
	end(&fixture);
}

static void a_weaker_source_is_checked_but_never_replaces_a_stronger(void **state)
{
	const struct option_assignment file = {OPTION_FROM_FILE, "f", "x.json:1"};
	const struct option_assignment variable = {OPTION_FROM_ENVIRONMENT, "E", "E"};
	struct option_entry *frequency;
	struct option_entry *only;
	struct fixture fixture;

	begin(&fixture);
	frequency = option_set_find(&fixture.set, "frequency");
	only = option_set_find(&fixture.set, "only");
	assert_int_equal(option_assign(&fixture.set, frequency, "50", &file, NULL), 0);
	assert_int_equal(option_assign(&fixture.set, frequency, "60", &variable, NULL), 0);
	assert_true(option_assign(&fixture.set, frequency, "5", &variable, &fixture.err) < 0);
	assert_string_equal(fixture.err.text, "E 5 is out of range (10 to 10000)");
	assert_int_equal(fixture.demo.frequency_hz, 50);
	assert_string_equal(frequency->origin, "x.json:1");
	assert_int_equal(option_assign(&fixture.set, only, "weak", &variable, NULL), 0);
	assert_int_equal(option_assign(&fixture.set, only, "a", &file, NULL), 0);
	assert_int_equal(option_assign(&fixture.set, only, "b", &file, NULL), 0);
	assert_int_equal(fixture.demo.only.count, 2);
	assert_string_equal(fixture.demo.only.items[0], "a");
	end(&fixture);
}

static void values_are_shown_as_they_are_typed(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{1500 * NS_PER_MS, "1500ms"},
		{3600 * NS_PER_SEC, "1h"},
		{7, "7ns"},
		{UINT64_MAX, ""},
	};
	struct fixture fixture;
	size_t i;

	begin(&fixture);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes shown = {0};

		fixture.demo.duration_ns = cases[i].ns;
		option_put_value(&shown, option_set_find(&fixture.set, "duration"));
		bytes_put_u8(&shown, 0);
		assert_string_equal((const char *)shown.data, cases[i].text);
		bytes_fini(&shown);
	}
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_spellings_of_a_value_mean_the_same),
		cmocka_unit_test(every_kind_lands_in_its_member),
		cmocka_unit_test(repeatable_options_add_up),
		cmocka_unit_test(options_may_follow_arguments),
		cmocka_unit_test(options_of_a_program_to_run_are_left_alone),
		cmocka_unit_test(a_bad_value_names_option_value_and_range),
		cmocka_unit_test(an_unknown_option_suggests_the_nearest),
		cmocka_unit_test(the_word_off_stands_for_zero),
		cmocka_unit_test(a_weaker_source_is_checked_but_never_replaces_a_stronger),
		cmocka_unit_test(values_are_shown_as_they_are_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
