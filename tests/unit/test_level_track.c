/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/level_track.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void put(struct level_track *track, uint64_t since_ns, int64_t level)
{
	assert_int_equal(level_track_add(track, (struct level_point){since_ns, level, level}), 0);
}

static void a_step_shows_its_highest_and_a_gauge_its_last(void **state)
{
	struct level_track track = {.kind = LEVEL_HEAP};
	struct level_step steps[4];

	(void)state;
	put(&track, 15, 7);
	put(&track, 18, 3); /* holds in the next */
	put(&track, 35, 1);
	level_track_finish(&track);
	level_track_fold(&track, 0, 10, steps, 4);
	assert_false(steps[0].known);
	assert_int_equal(steps[1].level, 7);
	assert_int_equal(steps[2].level, 3);
	assert_int_equal(steps[3].level, 3);
	track.kind = LEVEL_GAUGE;
	level_track_fold(&track, 0, 10, steps, 4);
	assert_false(steps[0].known);
	assert_int_equal(steps[1].level, 3);
	assert_int_equal(steps[3].level, 1);
	level_track_fini(&track);
}

static void the_highest_stays_however_many_there_are(void **state)
{
	const uint64_t count = 3 * LEVEL_TRACK_POINTS;
	struct level_track track = {.kind = LEVEL_RESIDENT};
	struct level_step steps[2];

	(void)state;
	for (uint64_t i = count; i-- > 0;) /* from the last to the first */
		put(&track, i * 1000000, i == 77 ? 1000 : (int64_t)(i % 5));
	level_track_finish(&track);
	assert_true(track.points.count <= LEVEL_TRACK_POINTS);
	level_track_fold(&track, 0, count / 2 * 1000000, steps, 2);
	assert_int_equal(steps[0].level, 1000);
	assert_int_equal(steps[1].level, 4);
	level_track_fini(&track);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_shows_its_highest_and_a_gauge_its_last),
		cmocka_unit_test(the_highest_stays_however_many_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
