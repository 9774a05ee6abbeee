/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "import/source.h"
#include "imported.h"
#include "load/load.h"
#include "model/profile.h"

static void folded_stacks_come_back_as_they_are(void **state)
{
	static const char *const cases[] = {
		"app;main;parse 42\napp;main;read 7\n",
		"app 3\napp;main 1\n",
		"a;main;inner_[i];deep_[i];sys_read_[k] 1\nb;jit_x_[j] 2\n",
		"app;operator new;x 9\n",
		"app;\"quoted\" 'name' <b>& 1\n",
		"app;caf\xc3\xa9 1000000000000\n",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_imported(cases[i], cases[i]);
}

/* What a line has in common with the one before is not looked up again. */
static void folded_lines_that_begin_alike_stay_apart(void **state)
{
	assert_imported("a;b;c 1\na;b;c;d 2\na;b 3\na;bb;c 4\na;b_[k];c 5\na;b;c_[i];e 6\n"
			"a;b;c;e 7\nab;b;c;e 8\na;b;c;e 9\na 10\n",
			"a 10\na;b 3\na;b;c 1\na;b;c;d 2\na;b;c;e 16\na;b;c_[i];e 6\na;b_[k];c 5\n"
			"a;bb;c 4\nab;b;c;e 8\n");
}

static void folded_lines_are_added_up_whatever_their_ends(void **state)
{
	assert_imported("app;main 1\r\n\n# a comment\napp;main 2.6\napp;main 3", "app;main 7\n");
	assert_imported("app;a\x01\xff;b 1\n", "app;a_\xef\xbf\xbd;b 1\n");
}

/* Each alone rounded would be 3 of 2.5, or 2 of 2.4. */
static void folded_decimals_keep_their_sum(void **state)
{
	assert_imported("a;b 2.5\na;c 2.5\na;d 12.0\n", "a;b 3\na;c 2\na;d 12\n");
	assert_imported("a;b 2.4\na;b 2.4\na;b 2.40000000000000000000000000000000000000\n",
			"a;b 7\n");
	assert_imported("a;b .4\na;c 0.4\na;d 40\n", "a;c 1\na;d 40\n");
}

static void folded_lines_that_make_no_sense_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"x -3\n", "line 1: the count is negative"},
		{"a;b 1e3\n", "line 1 does not end with a count"},
		{"a;b 1e3", "line 1 does not end with a count"},
		{"# stacks\n\nc 0x10\na;b 1\n", "line 3 does not end with a count"},
		{"main 5\nno count\nmain 1\n", "line 2 does not end with a count"},
		{"a;b 1\na;b -1", "line 2: the count is negative"},
		{"a;b 1\nz 9223372036854775808\n",
		 "line 2: the count is above 9223372036854775807"},
		{"a 1\nz 18446744073709551617000000000000000000\n", "line 2: the count is above"},
		{"a;b 0.4\na;c 0.4\n", "most of its 2 counts are below 1 (their sum is 0.8)"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};

		assert_true(run(cases[i].text, strlen(cases[i].text), NULL, &err) < 0);
		assert_non_null(strstr(err.text, "x.in, read as folded: "));
		assert_non_null(strstr(err.text, cases[i].words));
	}
	assert_imported("main 5\n", "main 5\n");
	assert_imported("y 0\nx;z 9223372036854775806", "x;z 9223372036854775806\n");
}

static void a_last_line_without_a_count_is_left_out_and_told(void **state)
{
	static const struct {
		const char *text;
		bool is_cut;
	} cases[] = {
		{"a;b 1\na;b;cut", true},      {"a;b 1\na;b;cut ", true},
		{"a;b 1\na;b;cut\n\n", true},  {"a;b 1\na", true},
		{"a;b 1\n# a comment", false}, {"a;b 1", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile *profile = NULL;
		struct error err = {0};

		assert_int_equal(run(cases[i].text, strlen(cases[i].text), &profile, &err), 1);
		assert_int_equal(profile->quality.samples, 1);
		assert_int_equal(profile->quality.incomplete, cases[i].is_cut);
		profile_free(profile);
	}
}

/* The text is read in parts: the last line is found in each of them. */
static void a_cut_line_behind_much_text_is_found(void **state)
{
	static const char line[] = "app;main;some_function_with_a_name 1\n";
	const size_t part = 1u << 20;
	struct bytes text = {0};

	while (text.size < part)
		bytes_put(&text, line, strlen(line));
	for (size_t cut = 0; cut < strlen(line); cut++) {
		struct profile *profile = NULL;
		struct error err = {0};
		size_t whole = part / strlen(line) - 1;

		text.size = whole * strlen(line);
		while (text.size < part - cut) /* the rest is a comment */
			bytes_put_u8(&text, text.size + 1 == part - cut ? '\n' : '#');
		bytes_put(&text, "app;cut\n", 8);
		assert_int_equal(run(text.data, text.size, &profile, &err), 1);
		assert_int_equal(profile->quality.samples, whole);
		assert_true(profile->quality.incomplete);
		profile_free(profile);
	}
	bytes_fini(&text);
}

static void more_inlined_frames_than_a_chain_holds_are_all_kept(void **state)
{
	struct bytes text = {0};
	struct profile *profile = NULL;
	uint32_t node;
	uint32_t frames = 0;
	int i;

	bytes_printf(&text, "app;main");
	for (i = 0; i < 600; i++)
		bytes_printf(&text, ";f%d_[i]", i);
	bytes_printf(&text, " 1\n");
	assert_int_equal(run(text.data, text.size, &profile, NULL), 1);
	for (node = profile->entries.items[0].stack; node != 0;
	     node = profile->stacks.nodes.items[node].parent)
		frames += profile->locations.items[profile->stacks.nodes.items[node].frame]
				  .line_count;
	assert_int_equal(frames, 601);
	bytes_fini(&text);
	profile_free(profile);
}

/* A profile as bytes that tell every id in it. */
static void put_profile(struct profile *profile, struct bytes *out)
{
	static const struct export_config config = {.value = EXPORT_DEFAULT_VALUE, .marks = true};

	assert_int_equal(exporter_write(exporter_find("folded"), profile, &config, out, NULL), 0);
	assert_int_equal(exporter_write(exporter_find("pprof"), profile, &config, out, NULL), 0);
	bytes_printf(out, "%zu %zu %zu", profile->stacks.nodes.count, profile->locations.count,
		     (size_t)profile->quality.truncated);
	profile_free(profile);
}

/* A file that is only looked at is not made a recording first, which changes nothing. */
static void folded_stacks_are_the_same_with_and_without_a_recording(void **state)
{
	static const char text[] = "a;main;inner_[i];deep_[i];sys_read_[k] 1\nb;jit_x_[j] 2\n"
				   "a;main 3\na;[truncated];main 4\na;main;main 5\nb 6\n";
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	unsigned int kind;

	for (kind = 0; kind < 8; kind++) {
		static const char *const comm = "a";
		struct import_source source;
		struct profile *profiles[2] = {NULL, NULL};
		struct bytes written[2] = {{0}, {0}};
		char path[32];
		int input = memfd_create("input", MFD_CLOEXEC);
		int fd = memfd_create("import", MFD_CLOEXEC);

		options.inlines = kind & 1;
		options.kernel = kind & 2;
		options.comms = &comm;
		options.comm_count = kind & 4 ? 1 : 0;
		assert_int_equal(write(input, text, sizeof(text) - 1), sizeof(text) - 1);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", input);
		assert_int_equal(load_profile(path, &options, &profiles[0], NULL), 0);
		import_source_of_memory(&source, text, sizeof(text) - 1);
		assert_int_equal(import_run(&source, "x.in", fd, NULL, NULL), 1);
		import_source_fini(&source);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(load_profile_fd(fd, "x.in", &options, &profiles[1], NULL), 0);
		put_profile(profiles[0], &written[0]);
		put_profile(profiles[1], &written[1]);
		assert_int_equal(written[0].size, written[1].size);
		assert_memory_equal(written[0].data, written[1].data, written[0].size);
		bytes_fini(&written[0]);
		bytes_fini(&written[1]);
		assert_int_equal(close(input), 0);
	}
}

/* What wick exports as OpenTelemetry profile is read back with the same stacks and values. */
static void an_opentelemetry_profile_is_read_back(void **state)
{
	static const char text[] = "a;main;parse 3\na;main;sys_read_[k] 4\nb;x 5\n";
	static const struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	struct profile *profile = NULL;
	struct bytes packed = {0};
	size_t i;

	assert_int_equal(run(text, sizeof(text) - 1, &profile, NULL), 1);
	assert_int_equal(exporter_write(exporter_find("otlp"), profile, &config, &packed, NULL), 0);
	profile_free(profile);
	assert_imported_bytes(packed.data, packed.size,
			      "a;main;parse 3\na;main;sys_read_[k] 4\nb;x 5\n");
	/* Cut off anywhere, it is refused or shorter, but nothing is read behind its end. */
	for (i = 0; i < packed.size; i++) {
		uint8_t *copy = malloc(i > 0 ? i : 1);

		assert_non_null(copy);
		memcpy(copy, packed.data, i);
		profile = NULL;
		if (run(copy, i, &profile, NULL) == 1)
			profile_free(profile);
		free(copy);
	}
	bytes_fini(&packed);
}

static int ignore_sample(void *self, const struct profile *profile,
			 const struct export_sample *sample, struct error *err)
{
	return 0;
}

static void reading_samples_closes_no_descriptor_of_others(void **state)
{
	static const char text[] = "a;main 1\n";
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct import_source source;
	int fd = memfd_create("import", MFD_CLOEXEC);
	bool had_input = fcntl(STDIN_FILENO, F_GETFD) >= 0;

	if (!had_input) /* something for descriptor 0 */
		assert_int_equal(dup2(STDOUT_FILENO, STDIN_FILENO), STDIN_FILENO);
	import_source_of_memory(&source, text, sizeof(text) - 1);
	assert_int_equal(import_run_as("folded", &source, fd, NULL), 0);
	import_source_fini(&source);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(load_samples_fd(fd, "x.in", &options, ignore_sample, NULL, NULL), 0);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

static void speedscope_weights_become_time(void **state)
{
	static const char text[] =
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"x;y\",\"line\":3}]},"
		"\"profiles\":[{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"milliseconds\","
		"\"startValue\":0,\"endValue\":3,\"samples\":[[0],[0,1]],\"weights\":[1,2.5]}]}";
	struct profile *profile = NULL;

	assert_imported(text, "t;main 1000\nt;main;x:y 2500\n");
	assert_int_equal(run(text, sizeof(text) - 1, &profile, NULL), 1);
	assert_string_equal(profile->value_types[profile->main_value].unit, "nanoseconds");
	assert_int_equal(profile_entry_values(profile, 1)[1], 2500000);
	profile_free(profile);
}

#define SPEEDSCOPE_OF(profile)                                                                     \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"f\"}]},\"profiles\":[{"           \
	"\"name\":\"t\",\"unit\":\"microseconds\",\"startValue\":10,\"endValue\":30," profile      \
	"}]}"
#define EVENTS_OF(events) SPEEDSCOPE_OF("\"type\":\"evented\",\"events\":[" events "]")
#define STACKS_OF(samples, weights)                                                                \
	SPEEDSCOPE_OF("\"type\":\"sampled\",\"samples\":[" samples "],\"weights\":[" weights "]")
#define EVENT(type, frame, at) "{\"type\":\"" type "\",\"frame\":" #frame ",\"at\":" #at "}"

static void speedscope_events_become_the_stacks_between_them(void **state)
{
	static const char text[] =
		EVENTS_OF(EVENT("O", 0, 12) "," EVENT("O", 1, 14) "," EVENT("C", 1, 17) "," EVENT(
			"C", 0, 18) "," EVENT("O", 1, 25) "," EVENT("O", 1, 25) "," EVENT("C", 1,
											  26));
	struct profile *profile = NULL;

	assert_imported(text, "t;f 4\nt;f;f 1\nt;main 3\nt;main;f 3\n");
	assert_int_equal(run(text, sizeof(text) - 1, &profile, NULL), 1);
	assert_int_equal(profile->entries.count, 4);
	assert_int_equal(profile_entry_values(profile, 0)[1], 2000 + 1000);
	assert_int_equal(profile_entry_values(profile, 1)[1], 3000);
	assert_int_equal(profile_entry_values(profile, 3)[1], 4000); /* until endValue */
	assert_int_equal(profile->duration_ns, 16000); /* when the last stretch begins */
	profile_free(profile);
}

static void speedscope_profiles_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{EVENTS_OF(EVENT("O", 0, 12) "," EVENT("C", 1, 14)), "other than the last one"},
		{EVENTS_OF(EVENT("C", 0, 12)), "other than the last one"},
		{EVENTS_OF(EVENT("O", 2, 12)), "does not exist"},
		{EVENTS_OF(EVENT("O", -1, 12)), "does not exist"},
		{EVENTS_OF(EVENT("X", 1, 12)), "neither opens nor closes"},
		{EVENTS_OF(EVENT("O", 0, 12) "," EVENT("C", 0, 11)), "not in time order"},
		{SPEEDSCOPE_OF("\"type\":\"other\""), "neither sampled nor evented"},
		{STACKS_OF("[0],[0,2]", "1,1"),
		 "sample 2: it refers to a frame that does not exist"},
		{STACKS_OF("[0],[1.5]", "1,1"),
		 "sample 2: it refers to a frame that does not exist"},
		{STACKS_OF("[0],[1]", "1,-3"), "sample 2: its weight is negative"},
		{STACKS_OF("[0],[1]", "1,1e30"), "sample 2: its weight is too large"},
		{STACKS_OF("[0],[1]", "1,\"2\""), "sample 2: its weight is not a number"},
		{STACKS_OF("[0],[1]", "1,2,3"), "it has 3 weights for 2 samples"},
		{STACKS_OF("[0],[1]", "1"), "it has 1 weights for 2 samples"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};

		assert_true(run(cases[i].text, strlen(cases[i].text), NULL, &err) < 0);
		assert_non_null(strstr(err.text, "profile 1"));
		assert_non_null(strstr(err.text, cases[i].words));
	}
}

#define DOCUMENT_OF(profiles)                                                                      \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","                     \
	"\"shared\":{\"frames\":[{\"name\":\"main\"}]},\"profiles\":[" profiles "]}"
#define STACK(unit, weight)                                                                        \
	"{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"" unit                                    \
	"\",\"samples\":[[0]],\"weights\":[" #weight "]}"

static void speedscope_units_are_kept_apart(void **state)
{
	static const char text[] = DOCUMENT_OF(STACK("seconds", 3) "," STACK("none", 5) "," STACK(
		"bytes", 7) "," STACK("milliseconds", 2));
	struct profile *profile = NULL;

	assert_int_equal(run(text, sizeof(text) - 1, &profile, NULL), 1);
	assert_int_equal(sum_of(profile, "time", "nanoseconds"), 3002000000);
	assert_int_equal(sum_of(profile, "weight", "count"), 5);
	assert_int_equal(sum_of(profile, "bytes", "bytes"), 7);
	profile_free(profile);
}

static void speedscope_bytes_are_no_samples(void **state)
{
	static const char bytes[] = DOCUMENT_OF(STACK("bytes", 4096));
	static const char counts[] = DOCUMENT_OF(STACK("none", 4096));
	struct profile *profile = NULL;

	assert_int_equal(run(bytes, sizeof(bytes) - 1, &profile, NULL), 1);
	assert_int_equal(sum_of(profile, "bytes", "bytes"), 4096);
	assert_int_equal(sum_of(profile, "samples", "count"), 1);
	profile_free(profile);
	assert_int_equal(run(counts, sizeof(counts) - 1, &profile, NULL), 1);
	assert_int_equal(sum_of(profile, "samples", "count"), 4096);
	profile_free(profile);
}

static void what_no_format_is_is_left_alone(void **state)
{
	static const char *const cases[] = {"",           "\n",          "hello world\n",
					    "{\"a\": 1}", "\x89PNG\r\n", "#!/bin/sh\nexit 0\n"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(run(cases[i], strlen(cases[i]), NULL, NULL), 0);
}

static void damage_is_told_with_the_name_and_the_format(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		const char *words;
	} cases[] = {
		{"a;b 1\nc;d 2\ne;f 3\nno count\ng 1\n", 30, "folded: line 4"},
		{"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",", 63,
		 "speedscope: line 1"},
		{"\x0a\x04\x08\x01\x10\x02\x12\xff", 8, "pprof: it is cut off"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff", 11, "x.in: its compressed"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};

		assert_true(run(cases[i].data, cases[i].size, NULL, &err) < 0);
		assert_non_null(strstr(err.text, "x.in"));
		assert_non_null(strstr(err.text, cases[i].words));
	}
}

static void every_format_has_its_words(void **state)
{
	size_t i;

	for (i = 0; importers[i]; i++) {
		assert_true(*importers[i]->name);
		assert_true(strlen(importers[i]->summary) > 10 &&
			    strlen(importers[i]->summary) < 80);
	}
	assert_true(i > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_stacks_come_back_as_they_are),
		cmocka_unit_test(folded_lines_that_begin_alike_stay_apart),
		cmocka_unit_test(folded_lines_are_added_up_whatever_their_ends),
		cmocka_unit_test(folded_decimals_keep_their_sum),
		cmocka_unit_test(folded_lines_that_make_no_sense_are_named),
		cmocka_unit_test(a_last_line_without_a_count_is_left_out_and_told),
		cmocka_unit_test(a_cut_line_behind_much_text_is_found),
		cmocka_unit_test(more_inlined_frames_than_a_chain_holds_are_all_kept),
		cmocka_unit_test(folded_stacks_are_the_same_with_and_without_a_recording),
		cmocka_unit_test(an_opentelemetry_profile_is_read_back),
		cmocka_unit_test(reading_samples_closes_no_descriptor_of_others),
		cmocka_unit_test(speedscope_weights_become_time),
		cmocka_unit_test(speedscope_events_become_the_stacks_between_them),
		cmocka_unit_test(speedscope_profiles_that_make_no_sense_are_refused),
		cmocka_unit_test(speedscope_units_are_kept_apart),
		cmocka_unit_test(speedscope_bytes_are_no_samples),
		cmocka_unit_test(what_no_format_is_is_left_alone),
		cmocka_unit_test(damage_is_told_with_the_name_and_the_format),
		cmocka_unit_test(every_format_has_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
