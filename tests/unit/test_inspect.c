/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "load/inspect.h"
#include "make_recording.h"

struct world {
	struct made made;
	uint32_t thread;
	struct inspection inspection;
	struct inspect_problem problems[INSPECT_MAX_PROBLEMS];
	size_t problem_count;
};

static int set_up(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	make_begin(&world.made);
	world.thread = make_thread(&world.made, world.made.process, 100, "app");
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	inspection_fini(&world->inspection);
	made_fini(&world->made);
	return 0;
}

static void make_samples(struct world *world, size_t n)
{
	struct frame stack[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};
	size_t i;

	for (i = 0; i < n; i++)
		make_sample_of(&world->made, world->thread, i * 10, stack, 2);
}

static enum inspect_verdict judge(struct world *world)
{
	int fd = open(world->made.path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(inspection_read(&world->inspection, fd, "test", NULL), 0);
	return inspection_judge(&world->inspection, world->problems, &world->problem_count);
}

static bool objects(const struct world *world, const char *words)
{
	size_t i;

	for (i = 0; i < world->problem_count; i++)
		if (strstr(world->problems[i].text, words))
			return true;
	return false;
}

static void a_whole_recording_is_good(void **state)
{
	struct world *world = *state;

	make_samples(world, 200);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_GOOD);
	assert_int_equal(world->problem_count, 0);
	assert_string_equal(inspection_fact(&world->inspection, "title"), "app");
	assert_string_equal(inspection_fact(&world->inspection, "nothing"), "");
	assert_int_equal(inspection_number(&world->inspection, "title"), 0);
	assert_int_equal(world->inspection.weight, 200 * WEIGHT_NS);
	assert_int_equal(world->inspection.module_samples[world->made.module], 200);
	assert_int_equal(world->inspection.kernel_symbols, 2);
	assert_int_equal(world->inspection.end_ns - world->inspection.start_ns, 10000);
}

static void few_samples_are_fair(void **state)
{
	struct world *world = *state;

	make_samples(world, 5);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_FAIR);
	assert_true(objects(world, "only 5 samples"));
}

static void a_recording_without_samples_is_poor(void **state)
{
	struct world *world = *state;

	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "no samples"));
}

static void one_that_was_cut_before_its_first_sample_lasted_no_time(void **state)
{
	struct world *world = *state;

	assert_int_equal(recording_writer_flush(world->made.writer, NULL), 0);
	(void)judge(world);
	assert_true(objects(world, "no end mark"));
	assert_int_equal(world->inspection.end_ns, world->inspection.start_ns);
}

static void losses_weigh_by_their_share(void **state)
{
	struct world *world = *state;

	make_samples(world, 200);
	assert_int_equal(sink_loss(world->made.sink, LOSS_RING_FULL, START_NS, 100), 0);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "100 samples were lost"));
}

static void a_flipped_bit_is_damage(void **state)
{
	struct world *world = *state;
	struct stat status;
	char byte;

	make_samples(world, 200);
	make_end(&world->made);
	assert_int_equal(fstat(world->made.fd, &status), 0);
	assert_int_equal(pread(world->made.fd, &byte, 1, status.st_size / 2), 1);
	byte ^= 1;
	assert_int_equal(pwrite(world->made.fd, &byte, 1, status.st_size / 2), 1);
	assert_int_equal(judge(world), VERDICT_DAMAGED);
	assert_true(world->problem_count > 0);
}

static void times_that_go_back_on_a_cpu_are_noticed(void **state)
{
	struct world *world = *state;
	struct frame stack[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};

	make_samples(world, 200);
	make_sample_of(&world->made, world->thread, 5, stack, 2);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_FAIR);
	assert_int_equal(world->inspection.out_of_order, 1);
}

static void samples_after_the_end_are_noticed(void **state)
{
	struct world *world = *state;
	struct frame stack[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};

	make_samples(world, 200);
	make_sample_of(&world->made, world->thread, 999999, stack, 2);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_FAIR);
	assert_true(objects(world, "outside the time"));
}

static void stacks_that_were_not_followed_are_noticed(void **state)
{
	struct world *world = *state;
	struct frame single[] = {user(&world->made, 0x1050)};
	struct frame cut[] = {{.kind = FRAME_TRUNCATED}, user(&world->made, 0x1050)};
	struct frame unmapped[] = {user(&world->made, 0x1050),
				   {.kind = FRAME_NATIVE, .a = MODULE_NONE, .b = 5}};
	size_t i;

	for (i = 0; i < 100; i++) {
		make_sample_of(&world->made, world->thread, i * 30, single, 1);
		make_sample_of(&world->made, world->thread, i * 30 + 10, cut, 2);
		make_sample_of(&world->made, world->thread, i * 30 + 20, unmapped, 2);
	}
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "33.3 % of stacks were cut"));
	assert_true(objects(world, "33.3 % of stacks have a single frame"));
	assert_true(objects(world, "33.3 % of samples are in no known module"));
}

static void a_recording_with_some_stacks_cut_is_fair(void **state)
{
	struct world *world = *state;
	struct frame cut[] = {{.kind = FRAME_TRUNCATED}, user(&world->made, 0x1050)};
	size_t i;

	make_samples(world, 90);
	for (i = 0; i < 10; i++)
		make_sample_of(&world->made, world->thread, 900 + i, cut, 2);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_FAIR);
	assert_true(objects(world, "10.0 % of stacks were cut"));
}

static void frames_of_other_kinds_belong_to_no_module(void **state)
{
	struct world *world = *state;
	struct frame stack[] = {user(&world->made, 0x1050),
				{.kind = FRAME_PYTHON, .a = MODULE_NONE, .b = 5}};
	size_t i;

	for (i = 0; i < 200; i++)
		make_sample_of(&world->made, world->thread, i * 10, stack, 2);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_GOOD);
	assert_int_equal(world->inspection.unmapped_samples, 0);
}

static void a_weight_that_cannot_be_is_noticed(void **state)
{
	struct world *world = *state;
	struct frame stack[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};

	make_samples(world, 200);
	make_heavy_sample_of(&world->made, world->thread, 2000, stack, 2, (uint64_t)INT64_MAX + 1);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "1 samples have impossibly large weights"));
	assert_true(world->inspection.weight == INT64_MAX);
}

static void a_sample_longer_than_the_recording_is_noticed(void **state)
{
	struct world *world = *state;
	struct frame stack[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};

	make_samples(world, 200);
	make_heavy_sample_of(&world->made, world->thread, 2000, stack, 2, 5000000000u);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "one sample represents 5.0 s"));
}

static void a_mapping_that_ends_before_it_starts_makes_no_sense(void **state)
{
	struct world *world = *state;
	struct map_event event = {.process = world->made.process,
				  .module = world->made.module,
				  .start = 0x2000,
				  .end = 0x2000};

	make_samples(world, 200);
	assert_int_equal(sink_map(world->made.sink, &event, NULL), 0);
	make_end(&world->made);
	assert_int_equal(judge(world), VERDICT_POOR);
	assert_true(objects(world, "mappings are invalid"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_whole_recording_is_good),
		TEST(few_samples_are_fair),
		TEST(a_recording_without_samples_is_poor),
		TEST(one_that_was_cut_before_its_first_sample_lasted_no_time),
		TEST(losses_weigh_by_their_share),
		TEST(a_flipped_bit_is_damage),
		TEST(times_that_go_back_on_a_cpu_are_noticed),
		TEST(samples_after_the_end_are_noticed),
		TEST(stacks_that_were_not_followed_are_noticed),
		TEST(a_recording_with_some_stacks_cut_is_fair),
		TEST(frames_of_other_kinds_belong_to_no_module),
		TEST(a_weight_that_cannot_be_is_noticed),
		TEST(a_sample_longer_than_the_recording_is_noticed),
		TEST(a_mapping_that_ends_before_it_starts_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
