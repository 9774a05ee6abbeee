/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_view.h"

#include <stdio.h>

#include "base/clock.h"
#include "golden.h"
#include "make_profile.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"

static const struct top_facts facts = {
	.title = "app --demo", .engine = "perf", .rate_hz = 97, .window_s = 10, .note = ""};

/* Two threads, recursion, inlining, the kernel, and names that are hard to show. */
static struct profile *server(void)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 107, "worker", "app");

	make_stack(profile, 0, "main;serve;parse@1;lib_memcpy", 31);
	make_stack(profile, 0, "main;serve;parse@2", 24);
	make_stack(profile, 0, "main;serve;reply;sys_write", 12);
	make_stack(profile, 0, "main;serve;reply>format", 9);
	make_stack(profile, worker, "run;visit;visit;visit;hash", 60);
	make_stack(profile, worker, "run;\xe8\xa8\x88\xe7\xae\x97_\xe5\x80\xa4", 20);
	make_stack(profile, worker, "run;bad\x1b[31m\xffname", 8);
	profile->duration_ns = NS_PER_SEC;
	return profile;
}

/* The screen as text, between lines that show its edges. */
static void compose(const struct profile *profile, struct top_state *state,
		    const struct top_facts *shown, struct top_size size, struct bytes *out)
{
	struct top_model model = {0};
	struct top_screen screen = {0};

	assert_int_equal(top_model_make(&model, profile, state,
					top_view_flame(state, size.columns, size.rows)),
			 0);
	top_screen_clear(&screen, size.columns, size.rows);
	top_view_put(&screen, &model, state, shown);
	assert_false(screen.text.failed);
	top_screen_print(&screen, out);
	for (size_t i = 0; i < screen.spans.count; i++) {
		assert_true(screen.spans.items[i].row < size.rows);
		assert_true(screen.spans.items[i].column + screen.spans.items[i].width <=
			    size.columns);
	}
	top_screen_fini(&screen);
	top_model_fini(&model);
}

static void assert_view(struct top_state *state, struct top_size size, const char *golden)
{
	struct profile *profile = server();
	struct bytes out = {0};

	compose(profile, state, &facts, size, &out);
	assert_golden(&out, golden);
	bytes_fini(&out);
	profile_free(profile);
}

static void functions_stand_above_a_small_flame_graph(void **test)
{
	struct top_state state = {0};

	assert_view(&state, (struct top_size){80, 24}, "top-functions.txt");
}

static void threads_have_a_view(void **test)
{
	struct top_state state = {.pane = TOP_THREADS};

	assert_view(&state, (struct top_size){80, 24}, "top-threads.txt");
}

static void the_flame_graph_has_the_screen_for_itself(void **test)
{
	struct top_state state = {.pane = TOP_FLAME, .box_depth = 3, .box_name = "parse"};

	assert_view(&state, (struct top_size){120, 14}, "top-flame.txt");
}

static void help_lists_the_keys(void **test)
{
	struct top_state state = {.help = true};

	assert_view(&state, (struct top_size){80, 24}, "top-help.txt");
}

static void a_zoom_shows_stacks_with_the_function_alone(void **test)
{
	struct top_state state = {
		.focus = {"parse"}, .focus_count = 1, .filter = "a", .sort = TOP_BY_TOTAL};

	assert_view(&state, (struct top_size){80, 24}, "top-zoom.txt");
}

static void a_small_screen_shows_what_fits(void **test)
{
	struct top_state state = {.typing = true, .filter = "s"};

	assert_view(&state, (struct top_size){20, 5}, "top-tiny.txt");
}

static void no_size_is_too_small(void **test)
{
	struct profile *profile = server();
	struct bytes out = {0};

	for (uint32_t columns = 0; columns < 30; columns++)
		for (uint32_t rows = 0; rows < 20; rows++)
			for (int pane = 0; pane < TOP_PANES; pane++) {
				struct top_state state = {.pane = (enum top_pane)pane,
							  .selected = 9};

				compose(profile, &state, &facts, (struct top_size){columns, rows},
					&out);
				state.help = true;
				compose(profile, &state, &facts, (struct top_size){columns, rows},
					&out);
			}
	bytes_fini(&out);
	profile_free(profile);
}

static void nothing_to_show_is_said(void **test)
{
	struct profile *profile = make_profile();
	struct top_facts noted = facts;
	struct top_state state = {.since_start = true, .paused = true};
	struct bytes out = {0};

	noted.note = "the process has ended: q quits";
	compose(profile, &state, &noted, (struct top_size){60, 8}, &out);
	bytes_put_u8(&out, '\0');
	assert_non_null(strstr((const char *)out.data, "no samples"));
	assert_non_null(strstr((const char *)out.data, "PAUSED, since start, 00:00"));
	assert_non_null(strstr((const char *)out.data, "the process has ended"));
	bytes_fini(&out);
	profile_free(profile);
}

/* The second row of the screen. */
static void assert_status(const struct profile *profile, const char *expected)
{
	struct top_state state = {0};
	struct bytes out = {0};
	char *line;

	compose(profile, &state, &facts, (struct top_size){80, 24}, &out);
	bytes_put_u8(&out, '\0');
	line = strchr((char *)out.data, '\n');
	assert_non_null(line);
	line++;
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, expected);
	bytes_fini(&out);
}

static void the_status_tells_which_time_and_what_is_wrong_with_samples(void **test)
{
	struct profile *profile = server();
	struct profile_quality *quality = &profile->quality;

	*quality = (struct profile_quality){.samples = 164, .truncated = 1, .unsymbolised = 1};
	assert_status(profile, " CPU 164.0% 164 samples  perf 97 Hz");
	quality->truncated = 82;
	quality->unsymbolised = 164;
	quality->lost = 7;
	assert_status(profile,
		      " CPU 164.0% 164 samples, 7 lost, 50.0% cut, 100.0% unnamed  perf 97 Hz");
	/* The time of an engine is not always that asked for. */
	*quality = (struct profile_quality){.samples = 164};
	profile->value_types[profile->main_value].name = "wall";
	assert_status(profile, " time 164.0% 164 samples  perf 97 Hz");
	profile->value_types[profile->main_value].name = "off-cpu";
	assert_status(profile, " off CPU 164.0% 164 samples  perf 97 Hz");
	profile_free(profile);
}

static void a_chosen_function_is_followed_when_rows_move(void **test)
{
	struct profile *profile = server();
	struct top_state state = {.follows = true, .selected_name = "sys_write", .first = 5};
	struct bytes out = {0};

	state.selected_home = top_model_home(profile, make_function(profile, "sys_write"));

	compose(profile, &state, &facts, (struct top_size){80, 24}, &out);
	assert_int_equal(state.selected, 4);
	assert_int_equal(state.first, 4);
	bytes_fini(&out);
	profile_free(profile);
}

static void sums_count_a_recursive_function_once(void **test)
{
	struct profile *profile = server();
	struct top_state state = {.filter = "VISIT"};
	struct top_model model = {0};

	assert_int_equal(top_model_make(&model, profile, &state, (struct top_size){0}), 0);
	assert_int_equal(model.functions.count, 1);
	assert_int_equal(model.functions.items[0].total, 60 * MAKE_PERIOD_NS);
	assert_int_equal(model.functions.items[0].self, 0);
	assert_int_equal(model.whole, 164 * MAKE_PERIOD_NS);
	state = (struct top_state){.thread = 107};
	assert_int_equal(top_model_make(&model, profile, &state, (struct top_size){0}), 0);
	assert_int_equal(model.whole, 88 * MAKE_PERIOD_NS);
	assert_int_equal(model.threads.count, 2); /* who could be chosen instead */
	top_model_fini(&model);
	profile_free(profile);
}

/* "depth:name" of the boxes, with spaces between them. */
static void assert_boxes(const struct profile *profile, uint32_t rows, const char *expected)
{
	const struct top_state state = {0};
	struct top_model model = {0};
	char text[200] = "";

	assert_int_equal(top_model_make(&model, profile, &state, (struct top_size){80, rows}), 0);
	for (size_t i = 0; i < model.boxes.count; i++) {
		size_t used = strlen(text);

		(void)snprintf(text + used, sizeof(text) - used, "%s%u:%s", i > 0 ? " " : "",
			       model.boxes.items[i].depth,
			       top_model_box_name(&model, &model.boxes.items[i]));
	}
	assert_string_equal(text, expected);
	top_model_fini(&model);
}

static void what_all_stacks_begin_with_gives_way_to_what_differs(void **test)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "start;main;loop;a;deep", 60);
	make_stack(profile, 0, "start;main;loop;b", 40);
	assert_boxes(profile, 6, "0:all 1:start 2:main 3:loop 4:a 4:b 5:deep");
	assert_boxes(profile, 5, "0:start 1:main 2:loop 3:a 3:b 4:deep");
	assert_boxes(profile, 3, "0:loop 1:a 1:b 2:deep");
	assert_boxes(profile, 2, "0:loop 1:a 1:b");
	assert_boxes(profile, 1, "0:loop");
	profile_free(profile);
}

static void stacks_too_small_to_be_seen_take_no_room(void **test)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "start;main;a", 60000);
	make_stack(profile, 0, "start;main;b", 40000);
	make_stack(profile, 0, "start;main;c;d;e;f;g;h;i", 9);
	assert_boxes(profile, 4, "0:all 1:start 2:main 3:a 3:b");
	assert_boxes(profile, 3, "0:start 1:main 2:a 2:b");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_stand_above_a_small_flame_graph),
		cmocka_unit_test(threads_have_a_view),
		cmocka_unit_test(the_flame_graph_has_the_screen_for_itself),
		cmocka_unit_test(help_lists_the_keys),
		cmocka_unit_test(a_zoom_shows_stacks_with_the_function_alone),
		cmocka_unit_test(a_small_screen_shows_what_fits),
		cmocka_unit_test(no_size_is_too_small),
		cmocka_unit_test(nothing_to_show_is_said),
		cmocka_unit_test(the_status_tells_which_time_and_what_is_wrong_with_samples),
		cmocka_unit_test(a_chosen_function_is_followed_when_rows_move),
		cmocka_unit_test(sums_count_a_recursive_function_once),
		cmocka_unit_test(what_all_stacks_begin_with_gives_way_to_what_differs),
		cmocka_unit_test(stacks_too_small_to_be_seen_take_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
