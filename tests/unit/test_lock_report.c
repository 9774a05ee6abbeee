/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/lock_report.h"

#include <errno.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "make_profile.h"
#include "model/entity.h"
#include "view/report/report.h"

#define TABLE "/usr/bin/app+0x4040"

/* Moves what make_stack() adds to an entry with labels. */
static void make_wait(struct profile *profile, const char *frames, int64_t samples,
		      const char *lock, const char *name)
{
	const struct label labels[] = {{"lock", lock}, {"lock_name", name}};
	uint32_t set = label_sets_add(&profile->labels, &profile->strings, labels, name ? 2 : 1);

	assert_int_not_equal(set, ID_NONE);
	make_stack(profile, 0, frames, samples);
	profile->entries.items[profile->entries.count - 1].labels = set;
}

/* 3 s in all: 2.1 s for one lock, 0.9 s for another; and 1 s of another kind. */
static struct profile *waits(void)
{
	struct profile *profile = make_profile();

	make_wait(profile,
		  "main;update;pthread_mutex_lock;__lll_lock_wait;sys_futex;[woken by];"
		  "worker/107;run;release>std::mutex::unlock;pthread_mutex_unlock;sys_wake",
		  150, TABLE, "table_lock");
	make_wait(profile, "main;look_up;pthread_mutex_lock;sys_futex;[woken by];[timer]", 60,
		  TABLE, "table_lock");
	make_wait(profile, "main;serve>std::mutex::lock>__gthread_mutex_lock;sys_futex", 90,
		  "[heap] 0x5555", NULL);
	make_stack(profile, 0, "main;idle", 100);
	return profile;
}

static json_t *report_json(const struct profile *profile, uint32_t limit)
{
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};
	json_t *json;

	options.by = REPORT_BY_LOCK;
	options.json = true;
	options.limit = limit;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	json = json_loadb((char *)out.data, out.size, 0, NULL);
	assert_non_null(json);
	bytes_fini(&out);
	return json;
}

static void assert_party(const json_t *row, const char *kind, size_t at, const char *wanted)
{
	const json_t *party = json_array_get(json_object_get(row, kind), at);
	const char *call = json_string_value(json_object_get(party, "call"));
	const char *function = json_string_value(json_object_get(party, "function"));
	char text[256];

	assert_non_null(party);
	(void)snprintf(text, sizeof(text), "%s, %s, %s, %lld", function ? function : "none",
		       call ? call : "none", json_string_value(json_object_get(party, "thread")),
		       (long long)json_integer_value(json_object_get(party, "waits")));
	assert_string_equal(text, wanted);
}

static void locks_have_who_waits_and_who_wakes(void **state)
{
	struct profile *profile = waits();
	json_t *json = report_json(profile, 0);
	const json_t *rows = json_object_get(json, "rows");
	const json_t *row = json_array_get(rows, 0);

	(void)state;
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(json_string_value(json_object_get(row, "lock")), TABLE);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "table_lock");
	assert_int_equal(json_integer_value(json_object_get(row, "total")), 2100000000);
	assert_int_equal(json_integer_value(json_object_get(row, "waits")), 210);
	assert_int_equal(json_integer_value(json_object_get(row, "mean")), 10000000);
	assert_true(json_real_value(json_object_get(row, "total_percent")) == 70.0);
	assert_party(row, "waiters", 0, "update, pthread_mutex_lock, app, 150");
	assert_party(row, "waiters", 1, "look_up, pthread_mutex_lock, app, 60");
	assert_party(row, "wakers", 0, "release, std::mutex::unlock, worker, 150");
	assert_party(row, "wakers", 1, "none, none, [timer], 60");
	row = json_array_get(rows, 1);
	assert_true(json_is_null(json_object_get(row, "name")));
	assert_party(row, "waiters", 0, "serve, std::mutex::lock, app, 90");
	assert_int_equal(json_array_size(json_object_get(row, "wakers")), 0);
	json_decref(json);
	json = report_json(profile, 1);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "more")), 1);
	json_decref(json);
	profile_free(profile);
}

/* One that is waited for often and shortly comes first when that is asked for. */
static void locks_are_sorted_by_time_or_by_number(void **state)
{
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct profile *profile = waits();
	struct bytes out = {0};
	const char *text;

	(void)state;
	profile->values.items[2 * profile->value_count] = 5000; /* samples of the third entry */
	options.by = REPORT_BY_LOCK;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, 0);
	text = (const char *)out.data;
	assert_true(strstr(text, "table_lock") < strstr(text, "[heap]"));
	bytes_clear(&out);
	options.sort = REPORT_SORT_SAMPLES;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, 0);
	text = (const char *)out.data;
	assert_true(strstr(text, "[heap]") < strstr(text, "table_lock"));
	bytes_fini(&out);
	profile_free(profile);
}

static void assert_text(const struct profile *profile, const char *wanted, bool is_there)
{
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};

	options.by = REPORT_BY_LOCK;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	if (!strstr((const char *)out.data, wanted) == is_there)
		fail_msg("%s\n%s: %s", (const char *)out.data, is_there ? "lacks" : "has", wanted);
	bytes_fini(&out);
}

static void the_text_has_the_same(void **state)
{
	struct profile *profile = waits();

	(void)state;
	assert_text(profile, "waits for locks: 3.00 s, 300 times, 75.0% of all\n", true);
	assert_text(profile,
		    "70.0%      2.10 s        210     10.0 ms           -  table_lock  " TABLE "\n",
		    true);
	assert_text(profile,
		    "30.0%    900.0 ms         90     10.0 ms           -  [heap] 0x5555\n", true);
	assert_text(profile, "waits in    71.4%  update, pthread_mutex_lock, thread app\n", true);
	assert_text(profile, "woken by    71.4%  release, std::mutex::unlock, thread worker\n",
		    true);
	assert_text(profile, "28.6%  [timer]\n", true);
	assert_text(profile, "--waker", false);
	profile_free(profile);
	profile = make_profile();
	make_wait(profile, "main;serve", 1, "[heap] 0x5555", NULL);
	assert_text(profile, "use wick record --waker", true);
	profile_free(profile);
}

static void locks_have_their_longest_wait_where_it_is_told(void **state)
{
	struct profile *profile = waits();
	uint32_t table = profile->entries.items[0].labels;
	uint32_t heap = profile->entries.items[2].labels;
	json_t *json = report_json(profile, 0);

	(void)state;
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(json, "rows"), 0), "longest")));
	json_decref(json);
	assert_int_equal(profile_note_longest(profile, table, 50000000), 0);
	assert_int_equal(profile_note_longest(profile, table, 40000000), 0);
	assert_int_equal(profile_note_longest(profile, heap, 30000000), 0);
	assert_text(profile, " 210     10.0 ms     50.0 ms  table_lock", true);
	assert_text(profile, "  90     10.0 ms     30.0 ms  [heap]", true);
	json = report_json(profile, 0);
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(json_object_get(json, "rows"), 1), "longest")),
			 30000000);
	json_decref(json);
	profile_free(profile);
}

static void a_recording_of_something_else_says_what_to_do(void **state)
{
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};
	struct error err = {0};

	(void)state;
	make_stack(profile, 0, "main;idle", 100);
	options.by = REPORT_BY_LOCK;
	assert_int_equal(report_write(profile, &options, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "does not record off-CPU time"));
	assert_non_null(strstr(err.remedy, "--mode offcpu --waker"));
	assert_int_equal(profile_add_fact(profile, "mode", "wall"), 0);
	assert_int_equal(profile_add_fact(profile, "engine", "ptrace"), 0);
	err = (struct error){0};
	assert_int_equal(report_write(profile, &options, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "only --engine ebpf records them"));
	assert_int_equal(out.size, 0);
	bytes_fini(&out);
	profile_free(profile);
}

static void who_waits_for_no_lock_is_told_so(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	make_stack(profile, 0, "main;idle", 100);
	assert_int_equal(profile_add_fact(profile, "mode", "offcpu"), 0);
	assert_int_equal(profile_add_fact(profile, "engine", "ebpf"), 0);
	assert_text(profile, "no thread waited for a lock\n", true);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_have_who_waits_and_who_wakes),
		cmocka_unit_test(locks_are_sorted_by_time_or_by_number),
		cmocka_unit_test(the_text_has_the_same),
		cmocka_unit_test(locks_have_their_longest_wait_where_it_is_told),
		cmocka_unit_test(a_recording_of_something_else_says_what_to_do),
		cmocka_unit_test(who_waits_for_no_lock_is_told_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
