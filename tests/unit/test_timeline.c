/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/timeline/timeline.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "make_profile.h"

#define MS 1000000u

/* A thread that is busy in the first half, and one in the second; 100 ms in all. */
static void fill(struct timeline *timeline, struct profile *profile)
{
	uint32_t worker = profile_thread(profile, 100, 101, "wor\"ker\n", "app");
	uint64_t at;

	profile->duration_ns = 100 * MS;
	for (at = 0; at < 100; at++) {
		struct export_sample sample = {.since_ns = at * MS,
					       .thread = at < 50 ? 0 : worker,
					       .weight = at < 50 ? MS : 2 * MS,
					       .times = 1};

		assert_int_equal(timeline_add(timeline, profile, &sample, NULL), 0);
	}
}

static void assert_written(const struct timeline_options *options, const char *expected)
{
	struct timeline *timeline = timeline_new(options);
	struct profile *profile = make_profile();
	struct bytes out = {0};

	fill(timeline, profile);
	assert_int_equal(timeline_write(timeline, profile, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_string_equal((char *)out.data, expected);
	bytes_fini(&out);
	timeline_free(timeline);
	profile_free(profile);
}

static void rows_show_when_each_thread_was_busy(void **state)
{
	assert_written(&(struct timeline_options){.columns = 10},
		       "app --demo\n"
		       "100 samples, a column is 10.0 ms, the highest is 20.0 ms of cpu\n\n"
		       "  share    samples  0 100.0 ms\n"
		       "  66.7%         50       █████  wor\"ker\\x0a/101\n"
		       "  33.3%         50  ▄▄▄▄▄       app/100\n");
}

static void threads_of_a_process_are_one_row(void **state)
{
	assert_written(&(struct timeline_options){.by = TIMELINE_BY_PROCESS, .columns = 4},
		       "app --demo\n"
		       "100 samples, a column is 25.0 ms, the highest is 50.0 ms of cpu\n\n"
		       "  share    samples  0 100.0 ms\n"
		       " 100.0%        100  ▄▄██  app/100\n");
}

static void what_was_recorded_is_told_where_there_are_gaps(void **state)
{
	struct timeline *timeline = timeline_new(&(struct timeline_options){.columns = 10});
	struct profile *profile = make_profile();
	struct bytes out = {0};

	fill(timeline, profile);
	profile->recorded_ns = 60 * MS;
	assert_int_equal(timeline_write(timeline, profile, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data,
			       "100 samples, 60.0 ms recorded with gaps in between, a column is"));
	bytes_fini(&out);
	timeline_free(timeline);
	profile_free(profile);
}

static void json_has_all_steps_of_a_row(void **state)
{
	assert_written(
		&(struct timeline_options){.format = TIMELINE_JSON, .step_ns = 50 * MS, .limit = 1},
		"{\"title\":\"app --demo\",\"duration_ns\":100000000,\"from_ns\":0,"
		"\"step_ns\":50000000,\"steps\":2,\"samples\":100,\"lost\":0,"
		"\"value\":{\"name\":\"cpu\",\"unit\":\"nanoseconds\",\"total\":150000000},"
		"\"by\":\"thread\",\"rows\":[{\"name\":\"wor\\\"ker\\u000a/101\","
		"\"process\":\"app\",\"pid\":100,\"tid\":101,\"samples\":50,"
		"\"total\":100000000,\"sample_steps\":[0,50],\"total_steps\":[0,100000000]}],"
		"\"more\":1}\n");
}

static void csv_has_a_line_for_each_step_that_has_samples(void **state)
{
	assert_written(&(struct timeline_options){.format = TIMELINE_CSV, .step_ns = 50 * MS},
		       "since_start_ns,step_ns,name,samples,total,value,unit,state\n"
		       "50000000,50000000,\"wor\"\"ker\\x0a/101\",50,100000000,\"cpu\","
		       "\"nanoseconds\",\"\"\n"
		       "0,50000000,\"app/100\",50,50000000,\"cpu\",\"nanoseconds\",\"\"\n");
}

/* A thread that sleeps and then runs, with a heap that grows beside it. */
static void states_and_memory_have_rows_of_their_own(void **state)
{
	struct timeline *timeline = timeline_new(&(struct timeline_options){.columns = 10});
	struct export_sample slept = {.since_ns = 45 * MS,
				      .from_ns = 5 * MS,
				      .lasted_ns = 40 * MS,
				      .weight = 40 * MS,
				      .times = 1,
				      .state = "sleeping"};
	struct profile *profile = make_profile();
	struct level_track heap = {.kind = LEVEL_HEAP};
	struct bytes out = {0};

	profile->duration_ns = 100 * MS;
	heap.unit = strings_add(&profile->strings, "bytes");
	assert_int_equal(timeline_add(timeline, profile, &slept, NULL), 0);
	for (uint64_t at = 50; at < 100; at++) {
		struct export_sample ran = {
			.since_ns = at * MS, .weight = MS, .times = 1, .state = "running"};

		assert_int_equal(timeline_add(timeline, profile, &ran, NULL), 0);
	}
	for (int64_t at = 0; at < 8; at++) {
		struct level_point point = {(uint64_t)at * 10 * MS, at << 20, (at + 1) << 20};

		assert_int_equal(level_track_add(&heap, point), 0);
	}
	assert_int_equal(vec_push(&profile->time.tracks, heap), 0);
	assert_int_equal(timeline_write(timeline, profile, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_string_equal((char *)out.data,
			    "app --demo\n"
			    "51 samples, a column is 10.0 ms, the highest is 10.0 ms of cpu\n\n"
			    "  share    samples  0 100.0 ms\n"
			    "  55.6%         50       █████  app/100 running\n"
			    "  44.4%          1  ▄███▄       app/100 sleeping\n"
			    "\n    last   highest  memory, each scaled to its highest\n"
			    "7.00 MiB  8.00 MiB  ▁▂▃▄▅▆▇█▇▇  live heap\n");
	bytes_fini(&out);
	timeline_free(timeline);
	profile_free(profile);
}

static void steps_that_are_too_short_are_refused_with_a_remedy(void **state)
{
	struct timeline *timeline = timeline_new(&(struct timeline_options){.step_ns = 1});
	struct export_sample sample = {.since_ns = TIMELINE_MAX_STEPS};
	struct profile *profile = make_profile();
	struct error err = {0};

	assert_int_equal(timeline_add(timeline, profile, &sample, &err), -E2BIG);
	assert_non_null(strstr(err.remedy, "--step"));
	timeline_free(timeline);
	profile_free(profile);
}

static void nothing_is_said_in_words(void **state)
{
	struct timeline *timeline = timeline_new(&(struct timeline_options){.columns = 60});
	struct profile *profile = make_profile();
	struct bytes out = {0};

	assert_int_equal(timeline_write(timeline, profile, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((char *)out.data, "no samples"));
	bytes_fini(&out);
	timeline_free(timeline);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_show_when_each_thread_was_busy),
		cmocka_unit_test(threads_of_a_process_are_one_row),
		cmocka_unit_test(what_was_recorded_is_told_where_there_are_gaps),
		cmocka_unit_test(json_has_all_steps_of_a_row),
		cmocka_unit_test(csv_has_a_line_for_each_step_that_has_samples),
		cmocka_unit_test(states_and_memory_have_rows_of_their_own),
		cmocka_unit_test(steps_that_are_too_short_are_refused_with_a_remedy),
		cmocka_unit_test(nothing_is_said_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
