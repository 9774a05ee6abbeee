/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <ctype.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "model/entity.h"

static const struct export_config by_default = {.value = EXPORT_DEFAULT_VALUE};

static void assert_export(const struct profile *profile, const struct export_config *config,
			  const char *format, const char *expected)
{
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(exporter_write(exporter_find(format), profile, config, &out, &err), 0);
	bytes_put_u8(&out, '\0');
	assert_string_equal((char *)out.data, expected);
	bytes_fini(&out);
}

static void every_format_has_its_words_and_its_own_name(void **state)
{
	size_t i;
	const char *c;

	for (i = 0; exporters[i]; i++) {
		assert_ptr_equal(exporter_find(exporters[i]->name), exporters[i]);
		assert_true(strlen(exporters[i]->summary) > 10 &&
			    strlen(exporters[i]->summary) < 80);
		assert_true(*exporters[i]->extension && *exporters[i]->extension != '.');
		for (c = exporters[i]->name; *c; c++)
			assert_true(islower((unsigned char)*c) || *c == '-');
	}
	assert_true(i > 0);
	assert_null(exporter_find("no such format"));
}

/* Exports a profile whatever the format: those that list get a sample for each entry. */
static int write_any(const struct exporter_ops *ops, const struct profile *profile,
		     struct bytes *out, struct error *err)
{
	struct export_list list;
	size_t i;
	int r;

	if (!exporter_lists_samples(ops))
		return exporter_write(ops, profile, &by_default, out, err);
	assert_int_equal(export_list_init(&list, ops, err), 0);
	for (i = 0; i < profile->entries.count; i++) {
		struct export_sample sample = {.time_ns = 1000 - i,
					       .since_ns = 100 - i,
					       .stack = profile->entries.items[i].stack,
					       .thread = profile->entries.items[i].thread,
					       .event = "cpu-clock",
					       .value = "cpu",
					       .unit = "nanoseconds"};

		assert_int_equal(export_list_sample(&list, profile, &sample, out, err), 0);
	}
	while ((r = export_list_finish(&list, profile, out, err)) > 0)
		;
	export_list_fini(&list);
	return r;
}

static void every_format_takes_an_empty_and_a_hostile_profile(void **state)
{
	struct profile *empty = make_profile();
	struct profile *hostile = make_profile();
	size_t i;

	make_stack(hostile, 0, "main;</script>&\"'\x1b[31m\xff\n\xe2\x80\xae;;", 1);
	make_stack(hostile, 0, "", 1);
	for (i = 0; exporters[i]; i++) {
		struct bytes out = {0};
		struct error err = {0};

		assert_int_equal(write_any(exporters[i], empty, &out, &err), 0);
		bytes_clear(&out);
		assert_int_equal(write_any(exporters[i], hostile, &out, &err), 0);
		assert_true(out.size > 0);
		bytes_fini(&out);
	}
	profile_free(empty);
	profile_free(hostile);
}

static void every_format_refuses_a_value_that_is_not_there(void **state)
{
	struct profile *profile = make_profile();
	size_t i;

	for (i = 0; exporters[i]; i++) {
		struct bytes out = {0};
		struct error err = {0};

		if (exporter_lists_samples(exporters[i]))
			continue;
		assert_int_equal(exporter_write(exporters[i], profile,
						&(struct export_config){.value = 2}, &out, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, exporters[i]->name));
		bytes_fini(&out);
	}
	profile_free(profile);
}

static void folded_counts_samples_of_each_stack_below_its_process(void **state)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 101, "worker", "app");

	make_stack(profile, 0, "main@1;outer>inner", 2);
	make_stack(profile, worker, "main@2;outer>inner", 3);
	make_stack(profile, 0, "main", 1);
	assert_export(profile, &by_default, "folded", "app;main 1\napp;main;outer;inner 5\n");
	assert_export(profile, &(struct export_config){.value = 1}, "folded",
		      "app;main 10000000\napp;main;outer;inner 50000000\n");
	profile_free(profile);
}

static void folded_has_microseconds_of_time_that_is_no_cpu_time(void **state)
{
	struct profile *profile = make_profile();

	profile->value_types[1].name = "wall";
	make_stack(profile, 0, "main;wait", 2);
	assert_int_equal(profile_add(profile, 1, 0, (const int64_t[]){1, 2600}), 0);
	assert_int_equal(profile_add(profile, 0, 0, (const int64_t[]){1, 1}), 0);
	assert_export(profile, &by_default, "folded", "app 1\napp;main 3\napp;main;wait 20000\n");
	profile_free(profile);
}

static void folded_names_cannot_be_taken_for_structure(void **state)
{
	static const struct {
		const char *name;
		const char *written;
	} cases[] = {
		{"operator new", "operator new"},
		{"name 7", "name_7"},
		{"name 7.5", "name_7.5"},
		{"name 7 8", "name 7_8"},
		{"a\nb\tc\x1b", "a_b_c_"},
		{"bad \xff byte", "bad \xef\xbf\xbd byte"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"x;y", "x:y"},
		{"", "[unnamed]"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile *profile = make_profile();
		struct profile_line line = {
			.function = profile_function(profile, cases[i].name, "", "", 0)};
		uint32_t location = profile_location(profile, "", 1, &line, 1);
		char expected[64];

		assert_int_equal(profile_add(profile,
					     stack_tree_child(&profile->stacks, 0, location), 0,
					     (int64_t[]){40, 0}),
				 0);
		(void)snprintf(expected, sizeof(expected), "app;%s 40\n", cases[i].written);
		assert_export(profile, &by_default, "folded", expected);
		profile_free(profile);
	}
}

static void folded_marks_kinds_of_frames_when_asked(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main>sys_not;main>inner;jit_x;sys_read", 2);
	make_stack(profile, 0, "inner", 1);
	assert_export(
		profile, &(struct export_config){.value = EXPORT_DEFAULT_VALUE, .marks = true},
		"folded",
		"app;inner 1\napp;main;sys_not_[i];main;inner_[i];jit_x_[j];sys_read_[k] 2\n");
	profile_free(profile);
}

static void speedscope_has_a_profile_for_each_thread_the_busiest_first(void **state)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 101, "worker \"x\"", "app");
	struct bytes out = {0};

	make_stack(profile, 0, "main>inner@1", 2);
	make_stack(profile, worker, "main@2", 3);
	make_stack(profile, worker, "", 1);
	assert_int_equal(
		exporter_write(exporter_find("speedscope"), profile, &by_default, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "\"name\":\"app --demo\""));
	assert_string_equal(
		strstr((char *)out.data, "\"shared"),
		"\"shared\":{\"frames\":["
		"{\"name\":\"main\",\"file\":\"app.c\"},{\"name\":\"inner\",\"file\":\"app.c\"}]},"
		"\"profiles\":["
		"{\"type\":\"sampled\",\"name\":\"worker \\\"x\\\" (app 100, thread 101)\","
		"\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":40000000,"
		"\"samples\":[[0],[]],\"weights\":[30000000,10000000]},"
		"{\"type\":\"sampled\",\"name\":\"app (app 100, thread 100)\","
		"\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":20000000,"
		"\"samples\":[[0,1]],\"weights\":[20000000]}]}\n");
	bytes_fini(&out);
	profile_free(profile);
}

static void speedscope_has_the_samples_as_they_came_where_they_are_known(void **state)
{
	static const char *const names[] = {"main>a", "main>b", "main>a"};
	struct profile *profile = make_profile();
	struct bytes out = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile_sample sample = {
			.since_ns = i, .value = (int64_t)i + 7, .type = profile->main_value};
		char text[32];

		(void)snprintf(text, sizeof(text), "%s@1", names[i]);
		make_stack(profile, 0, text, 1);
		sample.stack = profile->entries.items[i % 2].stack;
		assert_int_equal(vec_push(&profile->time.samples, sample), 0);
	}
	assert_int_equal(profile->entries.count, 2); /* two are of one stack */
	assert_int_equal(
		exporter_write(exporter_find("speedscope"), profile, &by_default, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "\"endValue\":24,\"samples\":[[0,1],[0,2],[0,1]],"
						 "\"weights\":[7,8,9]"));
	bytes_fini(&out);
	profile_free(profile);
}

static void a_sample_is_one_line_with_everything_known(void **state)
{
	static const struct build_id id = {.size = 2, .bytes = {0xab, 0xcd}};
	static const struct label labels[] = {{"state", "a \"quote\"\n"}};
	struct profile *profile = make_profile();
	struct export_sample sample = {.time_ns = 5000,
				       .since_ns = 1000,
				       .realtime_ns = 1700000000123456789u,
				       .cpu = 3,
				       .weight = 7,
				       .event = "cpu-clock",
				       .value = "cpu",
				       .unit = "nanoseconds",
				       .labels = labels,
				       .label_count = 1};
	struct bytes out = {0};
	struct export_list list;

	make_stack(profile, 0, "main>inner", 1);
	assert_int_equal(export_list_init(&list, exporter_find("samples"), NULL), 0);
	assert_int_equal(profile_module(profile, "/usr/bin/app", &id), 0);
	sample.stack = profile->entries.items[0].stack;
	assert_int_equal(export_list_sample(&list, profile, &sample, &out, NULL), 0);
	assert_int_equal(export_list_finish(&list, profile, &out, NULL), 0);
	export_list_fini(&list);
	bytes_put_u8(&out, '\0');
	assert_string_equal(
		(char *)out.data,
		"{\"time_ns\":5000,\"since_start_ns\":1000,"
		"\"wall_clock\":\"2023-11-14T22:13:20.123456789Z\",\"pid\":100,\"tid\":100,"
		"\"comm\":\"app\",\"process\":\"app\",\"cpu\":3,\"event\":\"cpu-clock\","
		"\"value\":\"cpu\",\"unit\":\"nanoseconds\",\"weight\":7,"
		"\"labels\":{\"state\":\"a \\\"quote\\\"\\u000a\"},\"stack\":["
		"{\"function\":\"main\",\"module\":\"/usr/bin/app\",\"build_id\":\"abcd\","
		"\"address\":\"0x1100\",\"file\":\"app.c\",\"line\":0,\"inlined\":false,"
		"\"kind\":\"program\"},"
		"{\"function\":\"inner\",\"module\":\"/usr/bin/app\",\"build_id\":\"abcd\","
		"\"address\":\"0x1100\",\"file\":\"app.c\",\"line\":0,\"inlined\":true,"
		"\"kind\":\"program\"}]}\n");
	bytes_fini(&out);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_has_its_words_and_its_own_name),
		cmocka_unit_test(every_format_takes_an_empty_and_a_hostile_profile),
		cmocka_unit_test(every_format_refuses_a_value_that_is_not_there),
		cmocka_unit_test(folded_counts_samples_of_each_stack_below_its_process),
		cmocka_unit_test(folded_has_microseconds_of_time_that_is_no_cpu_time),
		cmocka_unit_test(folded_names_cannot_be_taken_for_structure),
		cmocka_unit_test(folded_marks_kinds_of_frames_when_asked),
		cmocka_unit_test(speedscope_has_a_profile_for_each_thread_the_busiest_first),
		cmocka_unit_test(speedscope_has_the_samples_as_they_came_where_they_are_known),
		cmocka_unit_test(a_sample_is_one_line_with_everything_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
