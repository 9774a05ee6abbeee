/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report.h"

#include <jansson.h>

#include "base/error.h"
#include "golden.h"
#include "make_profile.h"

/* A little server: two threads, recursion, inlining, kernel, lost samples. */
static struct profile *server(void)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 107, "worker", "app");

	make_stack(profile, 0, "main;serve;parse@1;lib_memcpy", 31);
	make_stack(profile, 0, "main;serve;parse@2", 24);
	make_stack(profile, 0, "main;serve;reply;sys_write", 12);
	make_stack(profile, 0, "main;serve;reply>format", 9);
	make_stack(profile, 0, "main;idle", 1);
	make_stack(profile, worker, "run;visit;visit;visit;hash", 60);
	make_stack(profile, worker, "run;visit;visit;jit_add", 7);
	make_stack(profile, worker, "[truncated];visit;0x7f001234", 5);
	make_stack(profile, worker, "run;bad\x1b[31m\xffname", 1);
	profile->quality.lost = 3;
	profile->quality.truncated = 5;
	profile->quality.unsymbolised = 5;
	return profile;
}

static void assert_report(const struct profile *profile, const struct report_options *options,
			  const char *golden)
{
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(report_write(profile, options, &out, &err), 0);
	assert_golden(&out, golden);
	bytes_fini(&out);
}

static json_t *report_json(const struct profile *profile, struct report_options options)
{
	struct bytes out = {0};
	json_t *json;

	options.json = true;
	options.color = true;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	json = json_loadb((char *)out.data, out.size, 0, NULL);
	assert_non_null(json);
	bytes_fini(&out);
	return json;
}

static void functions_are_listed_by_their_own_time(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	assert_report(profile, &options, "report-functions.txt");
	profile_free(profile);
}

static void a_limit_says_how_many_rows_it_hides(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	options.limit = 2;
	options.color = true;
	assert_report(profile, &options, "report-limit-color.txt");
	profile_free(profile);
}

static void names_are_cut_to_fit_a_terminal(void **state)
{
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};
	const char *line;

	make_stack(profile, 0, "a_name_that_is_l\xc3\xb6nger_than_the_terminal_is_wide", 3);
	make_stack(profile, 0, "short", 1);
	options.columns = 80;
	options.color = true; /* takes no room */
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	line = (const char *)out.data;
	assert_non_null(strstr(line, "  a_name_th\xe2\x80\xa6l_is_wide  "));
	assert_non_null(strstr(line, "  short                "));
	bytes_clear(&out);
	options.columns = 0;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((const char *)out.data, "_than_the_terminal_is_wide  "));
	bytes_fini(&out);
	profile_free(profile);
}

static void modules_and_threads_have_their_tables(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	options.by = REPORT_BY_MODULE;
	assert_report(profile, &options, "report-modules.txt");
	options.by = REPORT_BY_THREAD;
	assert_report(profile, &options, "report-threads.txt");
	profile_free(profile);
}

/* Texts that follow each other in a report, behind its head. */
static void assert_order(const struct profile *profile, struct report_options options,
			 const char *const *texts)
{
	struct bytes out = {0};
	const char *at;

	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	at = strstr((const char *)out.data, "\n\n");
	for (; at && *texts; texts++) {
		const char *found = strstr(at, *texts);

		if (!found)
			fail_msg("no %s in %s", *texts, at);
		at = found;
	}
	assert_non_null(at);
	bytes_fini(&out);
}

static void rows_come_in_the_order_asked_for(void **state)
{
	static const char *const by_self[] = {"  a ", "  b ", "  main ", NULL};
	static const char *const by_total[] = {"  main ", "  a ", "  b ", NULL};
	static const char *const by_samples[] = {"  main ", "  b ", "  a ", NULL};
	static const int64_t rare[] = {1, 900}; /* samples and what they weigh */
	static const int64_t often[] = {8, 100};
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	make_stack(profile, 0, "main;a", 0);
	make_stack(profile, 0, "main;b", 0);
	assert_int_equal(profile_add(profile, profile->entries.items[0].stack, 0, rare), 0);
	assert_int_equal(profile_add(profile, profile->entries.items[1].stack, 0, often), 0);
	assert_order(profile, options, by_self);
	options.sort = REPORT_SORT_TOTAL;
	assert_order(profile, options, by_total);
	options.sort = REPORT_SORT_SAMPLES;
	assert_order(profile, options, by_samples);
	profile_free(profile);
}

static void processes_are_told_apart_by_their_pid(void **state)
{
	static const char *const rows[] = {" 75.0%", "app/100", " 25.0%", "app/200", NULL};
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 101, "worker", "app");
	uint32_t other = profile_thread(profile, 200, 200, "app", "app");
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	make_stack(profile, 0, "main", 1);
	make_stack(profile, worker, "main", 2);
	make_stack(profile, other, "main", 1);
	options.by = REPORT_BY_PROCESS;
	assert_order(profile, options, rows);
	profile_free(profile);
}

static void many_processes_have_a_row_each(void **state)
{
	const uint32_t count = 20000;
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	json_t *rows;
	json_t *json;
	json_t *row;
	size_t i;

	for (uint32_t pid = 1000; pid < 1000 + count; pid++) { /* two threads each */
		make_stack(profile, profile_thread(profile, pid, pid, "app", "app"), "main", 1);
		make_stack(profile, profile_thread(profile, pid, pid + 100000, "worker", "app"),
			   "main", pid % 7);
	}
	options.by = REPORT_BY_PROCESS;
	options.limit = 0;
	json = report_json(profile, options);
	rows = json_object_get(json, "rows");
	assert_int_equal(json_array_size(rows), count);
	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));
		unsigned long pid = strtoul(name + strlen("app/"), NULL, 10);

		assert_int_equal(json_integer_value(json_object_get(row, "samples")), 1 + pid % 7);
	}
	json_decref(json);
	profile_free(profile);
}

static void a_rate_that_fell_is_told_as_it_came_to_be(void **state)
{
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};

	make_stack(profile, 0, "main", 3);
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((const char *)out.data, ", one every 10.0 ms, cpu 30.0 ms"));
	bytes_clear(&out);
	profile->period_ns = MAKE_PERIOD_NS / 10;
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((const char *)out.data, ", one every 10.0 ms on average, cpu"));
	bytes_fini(&out);
	profile_free(profile);
}

static void a_function_in_many_rows_is_told(void **state)
{
	static const char hint[] = "loop has 90.0% self cost, spread over 3 rows of functions "
				   "inlined into it; --no-inline shows it in one row\n";
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes out = {0};

	make_stack(profile, 0, "main;loop>min@1", 30);
	make_stack(profile, 0, "main;loop>max@2", 30);
	make_stack(profile, 0, "main;other", 10);
	make_stack(profile, 0, "main;loop@3", 30);
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((const char *)out.data, hint));
	bytes_clear(&out);
	make_stack(profile, 0, "main;loop>max@2", 200); /* most is in one of them */
	assert_int_equal(report_write(profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, '\0');
	assert_null(strstr((const char *)out.data, "--no-inline"));
	bytes_fini(&out);
	profile_free(profile);
}

static void states_have_their_table(void **state)
{
	static const int64_t asleep[] = {3, 900 * 1000000};
	static const int64_t waiting[] = {2, 500 * 1000000};
	static const int64_t untold[] = {1, 100 * 1000000};
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	assert_int_equal(profile_add_state(profile, "waiting for a CPU", waiting), 0);
	assert_int_equal(profile_add_state(profile, "sleeping", asleep), 0);
	assert_int_equal(profile_add_state(profile, "", untold), 0);
	options.by = REPORT_BY_STATE;
	assert_report(profile, &options, "report-states.txt");
	profile_free(profile);
}

static void a_tree_counts_what_it_cuts(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	options.tree = true;
	options.min_percent = 5;
	assert_report(profile, &options, "report-tree.txt");
	options.max_depth = 2;
	options.inverted = true;
	options.min_percent = 0;
	assert_report(profile, &options, "report-tree-inverted.txt");
	profile_free(profile);
}

static void an_empty_profile_says_so(void **state)
{
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	json_t *json;

	assert_report(profile, &options, "report-empty.txt");
	json = report_json(profile, options);
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 0);
	json_decref(json);
	profile_free(profile);
}

static void json_has_the_numbers_of_the_table(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	json_t *json;
	json_t *row;

	options.limit = 1;
	json = report_json(profile, options);
	row = json_array_get(json_object_get(json, "rows"), 0);
	assert_int_equal(json_integer_value(json_object_get(json, "samples")), 150);
	assert_int_equal(json_integer_value(json_object_get(json, "lost")), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "more")), 14);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "hash");
	assert_int_equal(json_integer_value(json_object_get(row, "self")), 600000000);
	assert_int_equal(json_integer_value(json_object_get(row, "samples")), 60);
	json_decref(json);
	profile_free(profile);
}

static void siblings_come_in_the_order_asked_for(void **state)
{
	static const char *const by_total[] = {"─ a", "─ leaf", "─ b", "─ c", NULL};
	static const char *const by_self[] = {"─ b", "─ c", "─ a", "─ leaf", NULL};
	static const char *const by_samples[] = {"─ c", "─ a", "─ leaf", "─ b", NULL};
	static const int64_t heavy[] = {2, 900}; /* samples and what they weigh */
	static const int64_t middle[] = {1, 500};
	static const int64_t often[] = {8, 100};
	struct profile *profile = make_profile();
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	make_stack(profile, 0, "main;a;leaf", 0);
	make_stack(profile, 0, "main;b", 0);
	make_stack(profile, 0, "main;c", 0);
	assert_int_equal(profile_add(profile, profile->entries.items[0].stack, 0, heavy), 0);
	assert_int_equal(profile_add(profile, profile->entries.items[1].stack, 0, middle), 0);
	assert_int_equal(profile_add(profile, profile->entries.items[2].stack, 0, often), 0);
	options.tree = true;
	assert_order(profile, options, by_total);
	options.sort = REPORT_SORT_TOTAL;
	assert_order(profile, options, by_total);
	options.sort = REPORT_SORT_SELF;
	assert_order(profile, options, by_self);
	options.sort = REPORT_SORT_SAMPLES;
	assert_order(profile, options, by_samples);
	profile_free(profile);
}

static void a_tree_can_be_by_process_and_by_thread(void **state)
{
	static const char *const processes[] = {"─ app/100", "─ main", "─ app/200", "─ main", NULL};
	static const char *const threads[] = {"─ worker/101", "─ main", "─ app/100", "─ main",
					      "─ app/200",    "─ main", NULL};
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 101, "worker", "app");
	uint32_t other = profile_thread(profile, 200, 200, "app", "app");
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	make_stack(profile, 0, "main", 2);
	make_stack(profile, worker, "main", 3);
	make_stack(profile, other, "main", 1);
	options.tree = true;
	options.by = REPORT_BY_PROCESS;
	assert_order(profile, options, processes);
	options.by = REPORT_BY_THREAD;
	assert_order(profile, options, threads);
	profile_free(profile);
}

static void json_trees_name_their_parents(void **state)
{
	struct profile *profile = server();
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	json_t *json;
	json_t *nodes;
	json_t *node;
	size_t i;

	options.tree = true;
	json = report_json(profile, options);
	nodes = json_object_get(json, "nodes");
	assert_int_equal(json_array_size(nodes), 19);
	json_array_foreach(nodes, i, node)
	{
		json_int_t parent = json_integer_value(json_object_get(node, "parent"));
		json_t *above = json_array_get(nodes, (size_t)parent);

		assert_true(parent < (json_int_t)i);
		if (i > 0)
			assert_int_equal(json_integer_value(json_object_get(above, "depth")) + 1,
					 json_integer_value(json_object_get(node, "depth")));
	}
	json_decref(json);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_listed_by_their_own_time),
		cmocka_unit_test(a_limit_says_how_many_rows_it_hides),
		cmocka_unit_test(names_are_cut_to_fit_a_terminal),
		cmocka_unit_test(modules_and_threads_have_their_tables),
		cmocka_unit_test(rows_come_in_the_order_asked_for),
		cmocka_unit_test(processes_are_told_apart_by_their_pid),
		cmocka_unit_test(many_processes_have_a_row_each),
		cmocka_unit_test(a_rate_that_fell_is_told_as_it_came_to_be),
		cmocka_unit_test(a_function_in_many_rows_is_told),
		cmocka_unit_test(states_have_their_table),
		cmocka_unit_test(a_tree_counts_what_it_cuts),
		cmocka_unit_test(an_empty_profile_says_so),
		cmocka_unit_test(json_has_the_numbers_of_the_table),
		cmocka_unit_test(json_trees_name_their_parents),
		cmocka_unit_test(siblings_come_in_the_order_asked_for),
		cmocka_unit_test(a_tree_can_be_by_process_and_by_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
