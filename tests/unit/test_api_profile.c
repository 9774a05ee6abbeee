/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <wick/leaks.h>
#include <wick/profile.h>
#include <wick/version.h>

#define MS 1000000ull

static const char stacks_text[] = "app;main;parse 30\napp;main;parse;read 50\napp;main;write 20\n";

struct world {
	char folder[64];
	char input[96];
	char output[96];
	struct wick_profile *profile;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	FILE *file;

	assert_non_null(world);
	(void)snprintf(world->folder, sizeof(world->folder), "/tmp/wick-api-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	(void)snprintf(world->input, sizeof(world->input), "%s/x.folded", world->folder);
	(void)snprintf(world->output, sizeof(world->output), "%s/out", world->folder);
	file = fopen(world->input, "we");
	assert_non_null(file);
	assert_true(fputs(stacks_text, file) >= 0 && fclose(file) == 0);
	assert_int_equal(wick_load(world->input, NULL, &world->profile, NULL), 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	wick_profile_free(world->profile);
	(void)unlink(world->input);
	(void)unlink(world->output);
	assert_int_equal(rmdir(world->folder), 0);
	free(world);
	return 0;
}

static void a_file_of_another_format_is_loaded_and_described(void **state)
{
	struct world *world = *state;
	struct wick_profile_info info = {.size = sizeof(info)};

	assert_int_equal(wick_profile_describe(world->profile, &info, NULL), 0);
	assert_int_equal(info.samples, 100);
	assert_in_range(info.value_count, 1, 10);
	assert_true(info.main_value < info.value_count);
	assert_string_equal(wick_profile_value_name(world->profile, 0), "samples");
	assert_string_equal(wick_profile_value_unit(world->profile, 0), "count");
	assert_null(wick_profile_value_name(world->profile, info.value_count));
	assert_null(wick_profile_value_unit(world->profile, info.value_count));
}

static void the_library_says_its_version(void **state)
{
	unsigned int major;
	unsigned int minor;

	(void)state;
	assert_int_equal(sscanf(wick_version(), "%u.%u.", &major, &minor), 2);
}

static void stacks_are_walked_from_the_root(void **state)
{
	struct world *world = *state;
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_stacks *stacks = NULL;
	int64_t sum = 0;
	int deep = 0;

	assert_int_equal(wick_stacks_new(world->profile, &stacks, NULL), 0);
	while (wick_stacks_next(stacks, &stack) == 1) {
		assert_string_equal(stack.process, "app");
		assert_string_equal(stack.frames[0].function, "main");
		sum += stack.values[0];
		if (stack.frame_count == 3) {
			assert_string_equal(stack.frames[2].function, "read");
			assert_int_equal(stack.values[0], 50);
			deep++;
		}
	}
	assert_int_equal(wick_stacks_next(stacks, &stack), 0);
	assert_int_equal(deep, 1);
	assert_int_equal(sum, 100);
	wick_stacks_free(stacks);
}

static void functions_come_by_their_own_cost(void **state)
{
	static const struct {
		const char *name;
		int64_t self;
		int64_t total;
	} expected[] = {{"read", 50, 50}, {"parse", 30, 80}, {"write", 20, 20}, {"main", 0, 100}};
	struct world *world = *state;
	struct wick_profile_function row = {.size = sizeof(row)};
	struct wick_functions *functions = NULL;
	size_t i;

	assert_int_equal(wick_functions_new(world->profile, WICK_MAIN_VALUE, &functions, NULL), 0);
	assert_int_equal(wick_functions_count(functions), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(wick_functions_get(functions, i, &row), 0);
		assert_string_equal(row.name, expected[i].name);
		assert_int_equal(row.self, expected[i].self);
		assert_int_equal(row.total, expected[i].total);
	}
	assert_int_equal(wick_functions_get(functions, 4, &row), -ENOENT);
	wick_functions_free(functions);
}

static void filters_act_as_those_of_the_program(void **state)
{
	struct world *world = *state;
	struct wick_load_options options = {
		.size = sizeof(options), .only = "^parse$", .ignore = "^read$"};
	struct wick_profile_info info = {.size = sizeof(info)};
	struct wick_profile *profile = NULL;

	assert_int_equal(wick_load(world->input, &options, &profile, NULL), 0);
	assert_int_equal(wick_profile_describe(profile, &info, NULL), 0);
	assert_int_equal(info.samples, 30);
	wick_profile_free(profile);
}

static void what_goes_out_goes_to_a_file_or_to_memory(void **state)
{
	struct world *world = *state;
	struct wick_profile *again = NULL;
	struct wick_profile_info info = {.size = sizeof(info)};
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(wick_export_text(world->profile, "folded", &text, &size, NULL), 0);
	assert_string_equal(text, stacks_text);
	assert_int_equal(size, strlen(stacks_text));
	wick_text_free(text);
	assert_int_equal(wick_export_folded(world->profile, world->output, NULL), 0);
	assert_int_equal(wick_load(world->output, NULL, &again, NULL), 0);
	assert_int_equal(wick_profile_describe(again, &info, NULL), 0);
	assert_int_equal(info.samples, 100);
	wick_profile_free(again);
}

static void a_flame_graph_has_its_title_and_functions(void **state)
{
	struct world *world = *state;
	struct wick_flame_options options = {.size = sizeof(options),
					     .title = "of a test",
					     .colors = WICK_FLAME_HASH,
					     .inverted = 1};
	char *text = NULL;

	assert_int_equal(wick_flame_svg_text(world->profile, &options, &text, NULL, NULL), 0);
	assert_non_null(strstr(text, "<svg"));
	assert_non_null(strstr(text, "of a test"));
	assert_non_null(strstr(text, "parse"));
	wick_text_free(text);
	assert_int_equal(wick_flame_svg(world->profile, NULL, world->output, NULL), 0);
	assert_int_equal(access(world->output, R_OK), 0);
}

static void assert_file_begins(const char *path, const char *bytes)
{
	char start[16] = {0};
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_int_equal(fread(start, 1, strlen(bytes), file), strlen(bytes));
	assert_int_equal(fclose(file), 0);
	assert_memory_equal(start, bytes, strlen(bytes));
}

static void a_flame_graph_is_a_page_or_a_picture_too(void **state)
{
	struct world *world = *state;
	struct wick_flame_options wide = {.size = sizeof(wide), .width_px = 100001};
	struct wick_error err = {0};
	char *text = NULL;
	int r;

	assert_int_equal(wick_flame_html_text(world->profile, NULL, &text, NULL, NULL), 0);
	assert_non_null(strstr(text, "<!DOCTYPE html>"));
	assert_non_null(strstr(text, "parse"));
	wick_text_free(text);
	assert_int_equal(wick_flame_html(world->profile, &wide, world->output, &err), -ERANGE);
	assert_int_equal(wick_flame_html(world->profile, NULL, world->output, NULL), 0);
	assert_file_begins(world->output, "<!DOCTYPE html>");
	r = wick_flame_png(world->profile, NULL, world->output, &err);
	if (r == -EOPNOTSUPP) /* this build, or this machine, has no cairo */
		return;
	assert_int_equal(r, 0);
	assert_file_begins(world->output, "\x89PNG");
}

static void formats_that_list_samples_are_made_of_the_file(void **state)
{
	struct world *world = *state;
	struct wick_error err = {0};

	assert_int_equal(wick_export(world->profile, "samples", world->output, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.remedy, "wick_export_recording"));
	assert_int_equal(wick_export_recording(world->input, NULL, "samples", world->output, &err),
			 0);
	assert_int_equal(access(world->output, R_OK), 0);
}

static void write_input(const struct world *world, const char *text)
{
	FILE *file = fopen(world->input, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void assert_weights(const struct wick_profile *profile, const char *wanted)
{
	char *text = NULL;

	assert_int_equal(wick_export_text(profile, "speedscope", &text, NULL, NULL), 0);
	if (!strstr(text, wanted))
		fail_msg("no %s in %s", wanted, text);
	wick_text_free(text);
}

static void speedscope_has_samples_in_order_while_the_file_is_there(void **state)
{
	static const char in_order[] = "\"weights\":[1,2,3]";
	static const char added_up[] = "\"weights\":[4,2]";
	struct world *world = *state;
	char only[] = "^main$";
	struct wick_load_options options = {.size = sizeof(options), .only = only};
	struct wick_profile *profile = NULL;

	write_input(world, "app;main;a 1\napp;main;b 2\napp;idle 9\napp;main;a 3\n");
	assert_int_equal(wick_load(world->input, &options, &profile, NULL), 0);
	only[1] = 'x'; /* what was given may go */
	assert_weights(profile, in_order);
	assert_int_equal(wick_export(profile, "speedscope", world->output, NULL), 0);
	assert_int_equal(unlink(world->input), 0);
	assert_weights(profile, added_up);
	write_input(world, "another\n");
	assert_weights(profile, added_up);
	wick_profile_free(profile);
}

static void what_a_pipe_brings_is_in_order_too(void **state)
{
	static const char text[] = "app;main;a 1\napp;main;b 2\napp;main;a 3\n";
	struct wick_profile *profile = NULL;
	char path[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	assert_int_equal(close(ends[1]), 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(wick_load(path, NULL, &profile, NULL), 0);
	assert_weights(profile, "\"weights\":[1,2,3]");
	wick_profile_free(profile);
	assert_int_equal(close(ends[0]), 0);
}

/* Samples of a speedscope file stand for one each: as many as the profile has. */
static void assert_all_in_order(const struct wick_profile *profile)
{
	struct wick_profile_info info = {.size = sizeof(info)};
	uint64_t count = 0;
	char *text = NULL;
	const char *at;

	assert_int_equal(wick_profile_describe(profile, &info, NULL), 0);
	assert_int_equal(wick_export_text(profile, "speedscope", &text, NULL, NULL), 0);
	for (at = text; (at = strstr(at, "\"weights\":["));) {
		for (; *at != ']'; at++)
			count += *at == ',' || *at == '[';
	}
	assert_int_equal(count, info.samples);
	wick_text_free(text);
}

static void what_cannot_be_done_is_said_in_words(void **state)
{
	struct world *world = *state;
	struct wick_flame_options narrow = {.size = sizeof(narrow), .width_px = 3};
	struct wick_flame_options odd = {.size = sizeof(odd), .colors = 99};
	struct wick_flame_options unsized = {.title = "x"};
	struct wick_functions *functions = NULL;
	struct wick_profile *none = NULL;
	struct wick_error err = {0};

	assert_int_equal(wick_load("/no/such/file", NULL, &none, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/file"));
	assert_int_equal(err.code, -ENOENT);
	assert_null(none);
	assert_int_equal(wick_export(world->profile, "nothing", world->output, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nothing"));
	assert_int_equal(wick_export_recording(world->input, NULL, "nothing", "-", &err), -EINVAL);
	assert_int_equal(wick_flame_svg(world->profile, &narrow, world->output, &err), -ERANGE);
	assert_non_null(strstr(err.remedy, "200 to 100000"));
	assert_int_equal(wick_flame_svg(world->profile, &odd, world->output, &err), -EINVAL);
	assert_int_equal(wick_flame_svg(world->profile, &unsized, world->output, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "sizeof(struct wick_flame_options)"));
	assert_int_equal(wick_functions_new(world->profile, 77, &functions, &err), -EINVAL);
	assert_int_equal(wick_flame_svg(world->profile, NULL, "/no/such/folder/x", &err), -ENOENT);
}

/* Loads a profile of its own and draws it; reads the shared one beside others. */
static void *load_and_draw(void *self)
{
	const struct world *world = self;
	struct wick_functions *functions = NULL;
	struct wick_profile *own = NULL;
	char *text = NULL;

	if (wick_load(world->input, NULL, &own, NULL) == 0)
		(void)wick_flame_svg_text(own, NULL, &text, NULL, NULL);
	if (wick_functions_new(world->profile, WICK_MAIN_VALUE, &functions, NULL) < 0 ||
	    wick_functions_count(functions) != 4) {
		wick_text_free(text);
		text = NULL;
	}
	wick_functions_free(functions);
	wick_profile_free(own);
	return text;
}

static void threads_with_objects_of_their_own_do_not_meet(void **state)
{
	pthread_t threads[4];
	char *first = load_and_draw(*state);
	size_t i;

	assert_non_null(first);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, load_and_draw, *state), 0);
	for (i = 0; i < 4; i++) {
		void *text = NULL;

		assert_int_equal(pthread_join(threads[i], &text), 0);
		assert_non_null(text);
		assert_string_equal(text, first);
		wick_text_free(text);
	}
	wick_text_free(first);
}

/* A program of tomorrow, whose struct has one member more, and one of yesterday. */
static void structs_of_other_versions_are_understood(void **state)
{
	struct world *world = *state;
	struct {
		struct wick_load_options known;
		uint64_t unknown;
	} larger = {.known = {.size = sizeof(larger)}};
	struct wick_load_options shorter = {.size = offsetof(struct wick_load_options, only),
					    .only = "never read"};
	struct wick_profile_info part = {.size = offsetof(struct wick_profile_info, lost),
					 .lost = 77};
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};

	assert_int_equal(wick_load(world->input, &larger.known, &profile, &err), 0);
	wick_profile_free(profile);
	larger.unknown = 1;
	assert_int_equal(wick_load(world->input, &larger.known, &profile, &err), -E2BIG);
	assert_int_equal(wick_load(world->input, &shorter, &profile, &err), 0);
	assert_int_equal(wick_profile_describe(profile, &part, &err), 0);
	assert_int_equal(part.samples, 100);
	assert_int_equal(part.lost, 77); /* it has no room there */
	wick_profile_free(profile);
}

__attribute__((noinline, noreturn)) static void burn_the_time(void)
{
	static volatile uint64_t sum;

	for (;;)
		sum += 3;
}

static pid_t start_burner(void)
{
	pid_t pid = fork();

	if (pid == 0)
		burn_the_time();
	assert_true(pid > 0);
	return pid;
}

static void stop_burner(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* 1 when this machine lets nobody look at a process. */
static int is_refused(int r, const struct wick_error *err)
{
	if (r != -EPERM && r != -EACCES && r != -ENOSYS)
		return 0;
	print_message("nobody may sample here: %s\n", err->text);
	return 1;
}

static void a_process_that_runs_is_sampled(void **state)
{
	struct world *world = *state;
	struct wick_record_options options = {.size = sizeof(options),
					      .duration_ns = 200 * MS,
					      .frequency_hz = 499,
					      .recording = world->output};
	struct wick_profile_function row = {.size = sizeof(row)};
	struct wick_functions *functions = NULL;
	struct wick_profile *profile = NULL;
	struct wick_profile *again = NULL;
	struct wick_error err = {0};
	sigset_t before = {0};
	sigset_t after = {0};
	pid_t pid = start_burner();
	int r;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &before), 0);
	r = wick_profile_process(pid, &options, &profile, &err);
	stop_burner(pid);
	if (is_refused(r, &err))
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &after), 0);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(wick_functions_new(profile, WICK_MAIN_VALUE, &functions, NULL), 0);
	assert_int_equal(wick_functions_get(functions, 0, &row), 0);
	assert_string_equal(row.name, "burn_the_time");
	wick_functions_free(functions);
	assert_all_in_order(profile);
	wick_profile_free(profile);
	assert_int_equal(wick_load(world->output, NULL, &again, &err), 0); /* it was kept too */
	wick_profile_free(again);
}

static void sampling_ends_when_it_is_asked_to(void **state)
{
	struct wick_record_options options = {.size = sizeof(options)};
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};
	pid_t pid = start_burner();
	int ends[2];
	int r;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(close(ends[1]), 0); /* the reader hears of it at once */
	options.stop_fd = &ends[0];
	r = wick_profile_process(pid, &options, &profile, &err);
	assert_int_equal(close(ends[0]), 0);
	stop_burner(pid);
	if (is_refused(r, &err))
		skip();
	assert_int_equal(r, 0); /* and there was no other end */
	wick_profile_free(profile);
}

static void the_start_of_sampling_is_reported(void **state)
{
	struct wick_record_options options = {.size = sizeof(options), .duration_ns = MS};
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};
	uint64_t told = 0;
	pid_t pid = start_burner();
	int ends[2];
	int r;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	options.started_fd = &ends[1];
	r = wick_profile_process(pid, &options, &profile, &err);
	stop_burner(pid);
	assert_int_equal(close(ends[1]), 0);
	if (is_refused(r, &err)) {
		assert_int_equal(read(ends[0], &told, sizeof(told)), 0);
		assert_int_equal(close(ends[0]), 0);
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(read(ends[0], &told, sizeof(told)), sizeof(told));
	assert_int_equal(told, 1);
	assert_int_equal(read(ends[0], &told, sizeof(told)), 0); /* once */
	assert_int_equal(close(ends[0]), 0);
	wick_profile_free(profile);
}

static void a_process_that_cannot_be_sampled_is_named(void **state)
{
	struct wick_record_options often = {.size = sizeof(often), .frequency_hz = 20000};
	struct wick_record_options odd = {.size = sizeof(odd), .mode = 9};
	struct wick_record_options alone = {.size = sizeof(alone)};
	struct wick_record_options engine = {.size = sizeof(engine), .engine = "steam"};
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};

	assert_int_equal(wick_profile_process(0, NULL, &profile, &err), -EINVAL);
	assert_int_equal(wick_profile_process(getpid(), &often, &profile, &err), -ERANGE);
	assert_non_null(strstr(err.text, "20000"));
	assert_int_equal(wick_profile_process(getpid(), &odd, &profile, &err), -EINVAL);
	assert_int_equal(wick_profile_process(getpid(), &alone, NULL, &err), -EINVAL);
	assert_true(wick_profile_process(getpid(), &engine, &profile, &err) < 0);
	assert_non_null(strstr(err.text, "steam"));
	engine.engine = NULL;
	engine.stop_fd = &(int){-1};
	assert_int_equal(wick_profile_process(getpid(), &engine, &profile, &err), -EBADF);
	engine.stop_fd = NULL;
	engine.started_fd = &(int){-1};
	assert_int_equal(wick_profile_process(getpid(), &engine, &profile, &err), -EBADF);
	assert_non_null(strstr(err.text, "started_fd"));
	assert_true(wick_profile_process(0x7ffffff0, NULL, &profile, &err) < 0);
	assert_null(profile);
}

static void null_where_something_must_be_is_refused_in_words(void **state)
{
	struct world *world = *state;
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_stacks *stacks = NULL;
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};
	char *text = NULL;

	assert_int_equal(wick_load(NULL, NULL, &profile, &err), -EINVAL);
	assert_string_equal(err.text, "the path is NULL");
	assert_true(err.remedy[0] != '\0');
	assert_int_equal(wick_load(world->input, NULL, NULL, &err), -EINVAL);
	assert_null(profile);
	profile = world->profile;
	assert_int_equal(wick_profile_describe(profile, NULL, &err), -EINVAL);
	assert_int_equal(wick_profile_describe(NULL, NULL, &err), -EINVAL);
	assert_int_equal(wick_flame_svg(profile, NULL, NULL, &err), -EINVAL);
	assert_int_equal(wick_flame_svg_text(profile, NULL, NULL, NULL, &err), -EINVAL);
	assert_int_equal(wick_export(profile, NULL, world->output, &err), -EINVAL);
	assert_string_equal(err.text, "the format is NULL");
	assert_int_equal(wick_export_folded(profile, NULL, &err), -EINVAL);
	assert_int_equal(wick_export_text(NULL, "folded", &text, NULL, &err), -EINVAL);
	assert_int_equal(wick_export_recording(NULL, NULL, "folded", "-", &err), -EINVAL);
	assert_int_equal(wick_export_recording(world->input, NULL, "folded", NULL, &err), -EINVAL);
	assert_int_equal(wick_stacks_new(profile, NULL, &err), -EINVAL);
	assert_int_equal(wick_functions_new(profile, WICK_MAIN_VALUE, NULL, &err), -EINVAL);
	assert_int_equal(wick_stacks_new(profile, &stacks, NULL), 0);
	assert_int_equal(wick_stacks_next(stacks, NULL), -EINVAL);
	assert_int_equal(wick_stacks_next(stacks, &stack), 1); /* nothing was skipped */
	assert_int_equal(wick_stacks_next(NULL, &stack), -EINVAL);
	assert_int_equal(wick_functions_get(NULL, 0, NULL), -EINVAL);
	assert_int_equal(wick_functions_count(NULL), 0);
	assert_null(wick_profile_value_name(NULL, 0));
	assert_int_equal(wick_detect_leaks(NULL, NULL, NULL, &err), -EINVAL);
	assert_int_equal(wick_leaks_get(NULL, 0, NULL), -EINVAL);
	assert_int_equal(wick_leaks_count(NULL), 0);
	wick_stacks_free(stacks);
}

static void a_range_that_ends_before_it_begins_is_refused(void **state)
{
	struct world *world = *state;
	struct wick_load_options options = {
		.size = sizeof(options), .from_ns = 2 * MS, .to_ns = MS};
	struct wick_profile *profile = NULL;
	struct wick_error err = {0};

	assert_int_equal(wick_load(world->input, &options, &profile, &err), -ERANGE);
	assert_string_equal(err.text, "from_ns 2000000 is not before to_ns 1000000");
	assert_null(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_of_another_format_is_loaded_and_described,
						set_up, tear_down),
		cmocka_unit_test(the_library_says_its_version),
		cmocka_unit_test_setup_teardown(stacks_are_walked_from_the_root, set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_come_by_their_own_cost, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(filters_act_as_those_of_the_program, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_goes_out_goes_to_a_file_or_to_memory, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_flame_graph_has_its_title_and_functions, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_flame_graph_is_a_page_or_a_picture_too, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(formats_that_list_samples_are_made_of_the_file,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			speedscope_has_samples_in_order_while_the_file_is_there, set_up, tear_down),
		cmocka_unit_test(what_a_pipe_brings_is_in_order_too),
		cmocka_unit_test_setup_teardown(what_cannot_be_done_is_said_in_words, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(null_where_something_must_be_is_refused_in_words,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_range_that_ends_before_it_begins_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_with_objects_of_their_own_do_not_meet,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(structs_of_other_versions_are_understood, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_runs_is_sampled, set_up, tear_down),
		cmocka_unit_test(sampling_ends_when_it_is_asked_to),
		cmocka_unit_test(the_start_of_sampling_is_reported),
		cmocka_unit_test(a_process_that_cannot_be_sampled_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
