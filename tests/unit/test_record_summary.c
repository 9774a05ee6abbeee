/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/commands/parts/record_summary.h"
#include "load/load.h"
#include "record/record.h"

#include "make_recording.h"

static const struct record_config usual = {
	.title = "app", .output = "/no/such/folder/app.wick", .sampling = {.depth = 512}};

static const struct load_options names = LOAD_OPTIONS_DEFAULT;

static const struct record_result good = {
	.stats = {.samples.count = 990,
		  .samples.expected = 1000,
		  .run_ns = NS_PER_SEC,
		  .stacks.frames = 9900,
		  .stacks.unique = 12,
		  .granted.frequency_hz = 1000,
		  .granted.depth_limit = 127,
		  .cost.sample_ns = 2000,
		  .memory.ring_bytes = 524288},
	.duration_ns = 2 * NS_PER_SEC,
	.file_bytes = 12345,
	.own_cpu_ns = NS_PER_SEC / 100,
	.own_rss_bytes = 5000000,
};

/* The caller frees the text. */
static char *summary(const struct record_config *config, const struct record_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	record_summary_print(out, config, result, &names);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_says(const struct record_config *config, const struct record_result *result,
			const char *words, bool expected)
{
	char *text = summary(config, result);

	if (!strstr(text, words) == expected)
		fail_msg("\"%s\" is %sin:\n%s", words, expected ? "not " : "", text);
	free(text);
}

static void a_good_recording_is_summed_up(void **state)
{
	static const char *const words[] = {
		"recorded app for 2.00 s into /no/such/folder/app.wick (12.3 KB)",
		"990 of 1000 expected (99.0 %), 0 lost (0.00 %)",
		"990 Hz achieved, 1000 Hz requested, over 1.00 s of CPU time",
		"10.0 frames on average, 12 unique, 0.0 % truncated",
		"overhead   0.20 % of the target's CPU time (2.0 us per sample)",
		"recorder 0.01 s CPU, 5.0 MB",
		"next: wick report /no/such/folder/app.wick",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_says(&usual, &good, words[i], true);
	assert_says(&usual, &good, "wick: the", false);
}

static void after_waiting_the_states_come_next(void **state)
{
	struct record_config waiting = usual;

	assert_says(&usual, &good, "--by state", false);
	waiting.sampling.mode = ENGINE_MODE_WALL;
	assert_says(&waiting, &good, "next: wick report --by state /no/such/folder/app.wick", true);
}

static void what_eBPF_left_out_or_walked_elsewhere_is_told(void **state)
{
	struct record_result result = good;

	(void)state;
	assert_says(&usual, &good, "outside the kernel", false);
	assert_says(&usual, &good, "32-bit", false);
	assert_says(&usual, &good, "min-block", false);
	assert_says(&usual, &good, "are missing", false);
	result.stats.stacks.by_tables = true;
	result.stats.stacks.ends[0] = 190;
	result.stats.stacks.ends[1] = 10;
	result.stats.stacks.slices = 5;
	result.stats.offcpu.too_short = 11;
	result.stats.offcpu.unkept = 13;
	assert_says(&usual, &result, "; 2.5 % of stacks walked outside the kernel\n", true);
	assert_says(&usual, &result, "11 waits off the CPU were shorter than --min-block", true);
	assert_says(&usual, &result, "13 waits off the CPU are missing", true);
}

/* A sample with a name at the start, one without a name later. */
static void names_of_a_long_recording_are_those_of_its_beginning(void **state)
{
	struct record_config config = usual;
	struct record_result result = good;
	struct made made;
	struct frame frame;
	uint32_t thread;

	(void)state;
	make_begin(&made);
	thread = make_thread(&made, made.process, 1, "app");
	frame = user(&made, 0x1010);
	make_sample_of(&made, thread, 1000, &frame, 1);
	frame = library(&made, 0x10);
	make_sample_of(&made, thread, 3 * NS_PER_SEC / 2, &frame, 1);
	make_end(&made);
	config.output = made.path;
	assert_says(&config, &result, "50.0 % with a name only, 50.0 % unknown\n", true);
	result.stats.samples.count = 100000;
	assert_says(&config, &result,
		    "100.0 % with a name only, 0.0 % unknown, in the first 1.0 s\n", true);
	made_fini(&made);
}

static void no_samples_are_explained(void **state)
{
	struct record_result result = {.duration_ns = NS_PER_SEC};

	(void)state;
	assert_says(&usual, &result, "no samples", true);
	assert_says(&usual, &result, "nan", false);
	assert_says(&usual, &result, "inf", false);
	(void)snprintf(result.stats.why_none, sizeof(result.stats.why_none), "nobody was at home");
	assert_says(&usual, &result, "no samples: nobody was at home\n", true);
}

static void losses_come_with_the_setting_that_helps(void **state)
{
	struct record_result result = good;

	(void)state;
	result.stats.samples.lost = 110;
	assert_says(&usual, &result, "110 lost (10.00 %)", true);
	assert_says(&usual, &result, "kernel.perf_event_mlock_kb=2048", true);
	result.stats.memory.ring_bytes = 0; /* no rings of perf events */
	assert_says(&usual, &result, "the buffer was full; lower -F\n", true);
}

static void throttling_comes_with_the_setting_that_helps(void **state)
{
	struct record_result result = good;

	(void)state;
	result.stats.samples.throttled = 4;
	assert_says(&usual, &result, "throttled sampling 4 times", true);
	assert_says(&usual, &result, "kernel.perf_event_max_sample_rate=", true);
}

static void cut_stacks_come_with_the_setting_that_helps(void **state)
{
	struct record_result result = good;

	(void)state;
	result.stats.stacks.truncated = 99;
	assert_says(&usual, &result, "10.0 % truncated", true);
	assert_says(&usual, &result, "truncates stacks at 127 frames", true);
}

static void samples_of_32_bit_programs_are_told(void **state)
{
	struct record_result result = good;

	(void)state;
	assert_says(&usual, &result, "32-bit", false);
	result.stats.stacks.narrow = 495;
	assert_says(&usual, &result, "50 % of the samples are from 32-bit programs", true);
}

static void a_rate_that_was_not_reached_is_told(void **state)
{
	struct record_result result = good;

	(void)state;
	result.stats.samples.count = 500;
	assert_says(&usual, &result, "50 % of the expected samples were taken", true);
}

static void a_recording_by_period_asked_for_no_rate(void **state)
{
	struct record_result result = good;

	(void)state;
	result.stats.granted.frequency_hz = 0;
	assert_says(&usual, &result, "990 Hz achieved, over", true);
}

static void standard_output_is_named_and_no_next_command_given(void **state)
{
	struct record_config config = usual;

	(void)state;
	config.output = "-";
	assert_says(&config, &good, "into standard output", true);
	assert_says(&config, &good, "next:", false);
}

static void a_name_with_a_space_is_quoted_for_the_shell(void **state)
{
	struct record_config config = usual;

	(void)state;
	config.output = "/no/such/my app's.wick";
	assert_says(&config, &good, "wick report '/no/such/my app'\\''s.wick'", true);
}

static void a_hostile_process_name_does_nothing_to_the_terminal(void **state)
{
	struct record_config config = usual;

	(void)state;
	config.title = "\033]0;owned\007 (process 1)";
	assert_says(&config, &good, "\033", false);
	assert_says(&config, &good, "owned", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_recording_is_summed_up),
		cmocka_unit_test(after_waiting_the_states_come_next),
		cmocka_unit_test(what_eBPF_left_out_or_walked_elsewhere_is_told),
		cmocka_unit_test(names_of_a_long_recording_are_those_of_its_beginning),
		cmocka_unit_test(no_samples_are_explained),
		cmocka_unit_test(losses_come_with_the_setting_that_helps),
		cmocka_unit_test(throttling_comes_with_the_setting_that_helps),
		cmocka_unit_test(cut_stacks_come_with_the_setting_that_helps),
		cmocka_unit_test(samples_of_32_bit_programs_are_told),
		cmocka_unit_test(a_rate_that_was_not_reached_is_told),
		cmocka_unit_test(a_recording_by_period_asked_for_no_rate),
		cmocka_unit_test(standard_output_is_named_and_no_next_command_given),
		cmocka_unit_test(a_name_with_a_space_is_quoted_for_the_shell),
		cmocka_unit_test(a_hostile_process_name_does_nothing_to_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
