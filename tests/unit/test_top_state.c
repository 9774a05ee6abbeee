/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_state.h"

#include <stdio.h>

#include "make_profile.h"
#include "view/top/top_model.h"

#define PAGE 3

struct fixture {
	struct profile *profile;
	struct top_state state;
	struct top_model model;
};

static void remake(struct fixture *fixture)
{
	assert_int_equal(top_model_make(&fixture->model, fixture->profile, &fixture->state,
					(struct top_size){40, 6}),
			 0);
}

/* Functions by their own time: hash, parse, format, then main, run and serve. */
static void set_up(struct fixture *fixture)
{
	uint32_t worker;

	*fixture = (struct fixture){.profile = make_profile()};
	worker = profile_thread(fixture->profile, 100, 107, "worker", "app");
	make_stack(fixture->profile, 0, "main;serve;parse", 30);
	make_stack(fixture->profile, 0, "main;serve;format", 10);
	make_stack(fixture->profile, worker, "run;hash", 60);
	remake(fixture);
}

static void tear_down(struct fixture *fixture)
{
	top_model_fini(&fixture->model);
	profile_free(fixture->profile);
}

static void press(struct fixture *fixture, uint32_t key)
{
	top_state_key(&fixture->state, &fixture->model, key, PAGE);
	remake(fixture);
}

static void press_all(struct fixture *fixture, const char *keys)
{
	for (; *keys; keys++)
		press(fixture, (uint8_t)*keys);
}

static void rows_are_chosen_within_the_table(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press(&fixture, TOP_KEY_UP);
	assert_int_equal(fixture.state.selected, 0);
	press(&fixture, TOP_KEY_DOWN);
	assert_int_equal(fixture.state.selected, 1);
	assert_string_equal(fixture.state.selected_name, "parse");
	press(&fixture, TOP_KEY_PAGE_DOWN);
	assert_int_equal(fixture.state.selected, 4);
	press(&fixture, TOP_KEY_PAGE_DOWN);
	assert_int_equal(fixture.state.selected, 5);
	press(&fixture, TOP_KEY_PAGE_UP);
	assert_int_equal(fixture.state.selected, 2);
	press(&fixture, TOP_KEY_END);
	press(&fixture, 'k');
	assert_int_equal(fixture.state.selected, 4);
	press(&fixture, TOP_KEY_HOME);
	press(&fixture, 'j');
	assert_int_equal(fixture.state.selected, 1);
	tear_down(&fixture);
}

/* As many as there are modules may have one name. */
static void put_namesake(struct fixture *fixture, const char *module, uint64_t samples)
{
	struct profile *profile = fixture->profile;
	struct profile_line line = {
		.function = profile_function(profile, "main", "", module, ORIGIN_PROGRAM)};
	uint32_t location = profile_location(profile, module, 1, &line, 1);
	int64_t values[] = {(int64_t)samples, (int64_t)samples * MAKE_PERIOD_NS};

	assert_int_equal(
		profile_add(profile, stack_tree_child(&profile->stacks, 0, location), 0, values),
		0);
}

static void namesakes_are_chosen_one_by_one(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	put_namesake(&fixture, "/a", 20);
	put_namesake(&fixture, "/b", 15);
	remake(&fixture);
	/* hash, parse, main of /a, main of /b, format */
	for (size_t row = 1; row <= 4; row++) {
		press(&fixture, TOP_KEY_DOWN);
		top_state_follow(&fixture.state, &fixture.model);
		assert_int_equal(fixture.state.selected, row);
	}
	assert_string_equal(fixture.state.selected_name, "format");
	press(&fixture, TOP_KEY_UP);
	/* It is followed, not the other one, when they change places. */
	put_namesake(&fixture, "/b", 10);
	remake(&fixture);
	top_state_follow(&fixture.state, &fixture.model);
	assert_int_equal(fixture.state.selected, 2);
	tear_down(&fixture);
}

static void boxes_of_one_name_are_chosen_one_by_one(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	make_stack(fixture.profile, 0, "run;parse", 50);
	make_stack(fixture.profile, 0, "main;hash", 20);
	put_namesake(&fixture, "/b", 40);
	remake(&fixture);
	press(&fixture, '3');
	press(&fixture, TOP_KEY_DOWN);
	assert_string_equal(fixture.state.box_name, "run");
	/* Two that are called main stand beside it. */
	press(&fixture, TOP_KEY_LEFT);
	assert_int_equal(top_model_chosen_box(&fixture.model, &fixture.state), 2);
	press(&fixture, TOP_KEY_LEFT);
	assert_int_equal(top_model_chosen_box(&fixture.model, &fixture.state), 1);
	press(&fixture, TOP_KEY_RIGHT);
	press(&fixture, TOP_KEY_RIGHT);
	/* hash of main stands before that of run. */
	press(&fixture, TOP_KEY_DOWN);
	assert_string_equal(fixture.state.box_name, "hash");
	press(&fixture, TOP_KEY_UP);
	assert_string_equal(fixture.state.box_name, "run");
	tear_down(&fixture);
}

static void a_zoom_and_a_thread_are_taken_back_one_by_one(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press(&fixture, '2');
	press(&fixture, TOP_KEY_DOWN);
	press(&fixture, TOP_KEY_ENTER); /* the thread that does less: app */
	assert_int_equal(fixture.state.pane, TOP_FUNCTIONS);
	assert_int_equal(fixture.state.thread, 100);
	press(&fixture, TOP_KEY_ENTER);
	assert_string_equal(top_state_focus(&fixture.state), "parse");
	press(&fixture, TOP_KEY_ENTER); /* it is there already */
	assert_int_equal(fixture.state.focus_count, 1);
	press(&fixture, TOP_KEY_ESCAPE);
	assert_null(top_state_focus(&fixture.state));
	press(&fixture, TOP_KEY_BACKSPACE);
	assert_int_equal(fixture.state.thread, 0);
	tear_down(&fixture);
}

static void zooming_in_has_an_end(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press(&fixture, '3');
	for (int i = 0; i < 3 * TOP_FOCUS_MAX; i++) {
		/* Down the widest boxes, and from a zoom to the next. */
		(void)snprintf(fixture.state.box_name, TOP_NAME_BYTES, "f%d", i);
		press(&fixture, TOP_KEY_ENTER);
	}
	assert_int_equal(fixture.state.focus_count, TOP_FOCUS_MAX);
	assert_string_equal(top_state_focus(&fixture.state), "f23");
	tear_down(&fixture);
}

static void arrows_walk_over_boxes(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press(&fixture, TOP_KEY_TAB);
	press(&fixture, TOP_KEY_TAB);
	assert_int_equal(fixture.state.pane, TOP_FLAME);
	press(&fixture, TOP_KEY_ENTER); /* all of it: nothing to zoom into */
	assert_int_equal(fixture.state.focus_count, 0);
	press(&fixture, TOP_KEY_DOWN);
	assert_string_equal(fixture.state.box_name, "run"); /* the widest */
	press(&fixture, TOP_KEY_RIGHT);
	assert_string_equal(fixture.state.box_name, "run");
	press(&fixture, TOP_KEY_LEFT);
	assert_string_equal(fixture.state.box_name, "main");
	press(&fixture, TOP_KEY_DOWN);
	press(&fixture, TOP_KEY_DOWN);
	assert_string_equal(fixture.state.box_name, "parse");
	press(&fixture, TOP_KEY_UP);
	assert_string_equal(fixture.state.box_name, "serve");
	press(&fixture, TOP_KEY_ENTER);
	assert_string_equal(top_state_focus(&fixture.state), "serve");
	assert_int_equal(fixture.model.whole, 40 * MAKE_PERIOD_NS);
	tear_down(&fixture);
}

static void a_filter_is_typed_kept_or_given_up(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press_all(&fixture, "/xq?");
	assert_false(fixture.state.quit);
	assert_int_equal(fixture.model.functions.count, 0);
	for (int i = 0; i < 9; i++)
		press(&fixture, TOP_KEY_BACKSPACE);
	press_all(&fixture, "MA\xc3\xa9");
	press(&fixture, TOP_KEY_BACKSPACE); /* both bytes of the last one */
	assert_string_equal(fixture.state.filter, "MA");
	press(&fixture, TOP_KEY_ENTER);
	assert_int_equal(fixture.model.functions.count, 2); /* main, format */
	press_all(&fixture, "/zzz");
	press(&fixture, TOP_KEY_ESCAPE);
	assert_string_equal(fixture.state.filter, "MA");
	press(&fixture, TOP_KEY_ESCAPE);
	assert_string_equal(fixture.state.filter, "");
	for (int i = 0; i < 2 * TOP_FILTER_BYTES; i++)
		press(&fixture, i == 0 ? '/' : 'a');
	assert_int_equal(strlen(fixture.state.filter), TOP_FILTER_BYTES - 1);
	tear_down(&fixture);
}

static void letters_switch_what_is_shown(void **state)
{
	struct fixture fixture;

	set_up(&fixture);
	press_all(&fixture, "sw r?");
	assert_int_equal(fixture.state.sort, TOP_BY_TOTAL);
	assert_true(fixture.state.since_start);
	assert_true(fixture.state.paused);
	assert_true(fixture.state.restart);
	assert_true(fixture.state.help);
	press(&fixture, TOP_KEY_ESCAPE);
	assert_false(fixture.state.help);
	press_all(&fixture, "ssp~q");
	assert_int_equal(fixture.state.sort, TOP_BY_SELF);
	assert_false(fixture.state.paused);
	assert_true(fixture.state.quit);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_chosen_within_the_table),
		cmocka_unit_test(namesakes_are_chosen_one_by_one),
		cmocka_unit_test(boxes_of_one_name_are_chosen_one_by_one),
		cmocka_unit_test(a_zoom_and_a_thread_are_taken_back_one_by_one),
		cmocka_unit_test(zooming_in_has_an_end),
		cmocka_unit_test(arrows_walk_over_boxes),
		cmocka_unit_test(a_filter_is_typed_kept_or_given_up),
		cmocka_unit_test(letters_switch_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
