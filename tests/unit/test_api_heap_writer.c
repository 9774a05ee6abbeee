/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <wick/heap_writer.h>
#include <wick/live_blocks.h>
#include <wick/profile.h>

#define MS 1000000ull
#define START_NS (1000 * MS + 999) /* not a whole microsecond */

struct world {
	char folder[64];
	char path[96];
	char other[96];
	struct wick_heap_writer *writer;
	struct wick_profile *profile;
};

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){0};
	(void)snprintf(world.folder, sizeof(world.folder), "/tmp/wick-heap-writer-XXXXXX");
	assert_non_null(mkdtemp(world.folder));
	(void)snprintf(world.path, sizeof(world.path), "%s/x.wick", world.folder);
	(void)snprintf(world.other, sizeof(world.other), "%s/other", world.folder);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	wick_heap_writer_close(world->writer);
	wick_profile_free(world->profile);
	(void)unlink(world->path);
	(void)unlink(world->other);
	assert_int_equal(rmdir(world->folder), 0);
	return 0;
}

static void open_writer(struct world *world, struct wick_heap_options options)
{
	struct wick_error err = {0};

	options.size = sizeof(options);
	options.start_ns = START_NS;
	if (wick_heap_writer_open(world->path, &options, &world->writer, &err) < 0)
		fail_msg("%s", err.text);
}

/* A site of a stack main → name, in the main thread. */
static void make_site(struct world *world, uint32_t number, const char *name, uint32_t space)
{
	struct wick_heap_frame main_frame = {.function = "main", .file = "main.py", .line = 3};
	struct wick_heap_frame frame = {.function = name, .file = "x.py", .line = 10 + number};
	uint32_t ids[2];
	struct wick_heap_stack stack = {.size = sizeof(stack), .frames = ids, .frame_count = 2};
	struct wick_heap_site site = {.number = number, .space = space};

	assert_int_equal(wick_heap_writer_frame(world->writer, &main_frame, &ids[0], NULL), 0);
	assert_int_equal(wick_heap_writer_frame(world->writer, &frame, &ids[1], NULL), 0);
	assert_int_equal(wick_heap_writer_stack(world->writer, &stack, &site.stack, NULL), 0);
	assert_int_equal(wick_heap_writer_thread(world->writer, (uint32_t)getpid(), "worker",
						 &site.thread, NULL),
			 0);
	assert_int_equal(wick_heap_writer_site(world->writer, &site, NULL), 0);
}

static int add(struct world *world, enum wick_heap_op op, uint64_t address, uint64_t size,
	       uint32_t site)
{
	struct wick_heap_event event = {
		.address = address, .size = size, .site = site, .op = (uint8_t)op};

	return wick_heap_writer_add(world->writer, &event, 1, NULL);
}

static void load(struct world *world, const char *event)
{
	struct wick_load_options options = {.size = sizeof(options), .event = event};
	struct wick_error err = {0};

	wick_profile_free(world->profile);
	world->profile = NULL;
	if (wick_load(world->path, &options, &world->profile, &err) < 0)
		fail_msg("%s", err.text);
}

/* The sum of the main value over stacks that end in a function. */
static int64_t sum_of(struct world *world, const char *event, const char *function)
{
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_profile_info info = {.size = sizeof(info)};
	struct wick_stacks *stacks = NULL;
	int64_t sum = 0;

	load(world, event);
	assert_int_equal(wick_profile_describe(world->profile, &info, NULL), 0);
	assert_int_equal(wick_stacks_new(world->profile, &stacks, NULL), 0);
	while (wick_stacks_next(stacks, &stack) == 1)
		if (stack.frame_count > 0 &&
		    strcmp(stack.frames[stack.frame_count - 1].function, function) == 0)
			sum += stack.values[info.main_value];
	wick_stacks_free(stacks);
	return sum;
}

static void finish(struct world *world)
{
	assert_int_equal(wick_heap_writer_finish(world->writer, NULL), 0);
	wick_heap_writer_close(world->writer);
	world->writer = NULL;
}

static void allocations_and_frees_come_back_by_stack(void **state)
{
	struct world *world = *state;
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_stacks *stacks = NULL;
	struct stat status;

	open_writer(world, (struct wick_heap_options){.title = "shop"});
	make_site(world, 7, "parse", 0);
	make_site(world, 3, "read", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 7), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 50, 3), 0);
	assert_int_equal(add(world, WICK_HEAP_FREE, 0x1000, 0, 7), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 30, 3), 0);
	finish(world);
	assert_int_equal(sum_of(world, "alloc_space", "parse"), 100);
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 0);
	assert_int_equal(sum_of(world, "inuse_space", "read"), 80);
	assert_int_equal(sum_of(world, "inuse_objects", "read"), 2);
	assert_int_equal(sum_of(world, NULL, "parse"), 100); /* at the peak */
	assert_int_equal(wick_stacks_new(world->profile, &stacks, NULL), 0);
	assert_int_equal(wick_stacks_next(stacks, &stack), 1);
	assert_int_equal(stack.frame_count, 2);
	assert_string_equal(stack.frames[0].function, "main");
	assert_string_equal(stack.frames[0].file, "main.py");
	assert_int_equal(stack.frames[0].line, 3);
	assert_string_equal(stack.thread, "worker");
	assert_int_equal(stack.pid, getpid());
	wick_stacks_free(stacks);
	assert_int_equal(stat(world->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void what_was_flushed_can_be_read_while_the_file_grows(void **state)
{
	struct world *world = *state;
	struct wick_profile_info info = {.size = sizeof(info)};
	uint64_t size;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(wick_heap_writer_flush(world->writer, NULL), 0);
	size = wick_heap_writer_bytes(world->writer);
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 100);
	assert_int_equal(wick_profile_describe(world->profile, &info, NULL), 0);
	assert_int_equal(info.incomplete, 1);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 11, 0), 0);
	assert_int_equal(wick_heap_writer_bytes(world->writer), size);
	assert_int_equal(wick_heap_writer_flush(world->writer, NULL), 0);
	assert_true(wick_heap_writer_bytes(world->writer) > size);
	wick_heap_writer_close(world->writer); /* as if it was killed */
	world->writer = NULL;
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 111);
}

static void spaces_keep_equal_addresses_apart(void **state)
{
	struct world *world = *state;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	make_site(world, 1, "of_library", 255);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 7, 1), 0);
	assert_int_equal(add(world, WICK_HEAP_FREE, 0x1000, 0, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 0);
	assert_int_equal(sum_of(world, "inuse_space", "of_library"), 7);
}

static void sites_have_two_lists_and_may_be_hidden(void **state)
{
	struct world *world = *state;
	struct wick_heap_event event = {
		.address = 0x5000, .size = 9, .site = 1u << 31 | 6, .op = WICK_HEAP_ALLOC};
	uint32_t found;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 5, "parse", 0);
	assert_int_equal(wick_heap_writer_new_sites(world->writer, &event, 1, &found, 1), 1);
	assert_int_equal(found, event.site);
	make_site(world, event.site, "raw", 0);
	assert_int_equal(wick_heap_writer_site(
				 world->writer,
				 &(struct wick_heap_site){.number = 6, .stack = WICK_HEAP_HIDDEN},
				 NULL),
			 0);
	assert_int_equal(wick_heap_writer_add(world->writer, &event, 1, NULL), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 5), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 1000, 6), 0);
	assert_int_equal(add(world, WICK_HEAP_FREE, 0x2000, 0, 6), 0);
	finish(world);
	assert_int_equal(sum_of(world, "alloc_space", "parse"), 100);
	assert_int_equal(sum_of(world, "alloc_space", "raw"), 9);
	assert_int_equal(sum_of(world, "alloc_objects", "raw"), 1);
}

static void sampled_blocks_have_weights(void **state)
{
	struct world *world = *state;

	open_writer(world, (struct wick_heap_options){.probability = 0.25});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 400);
	assert_int_equal(sum_of(world, "inuse_objects", "parse"), 4);

	open_writer(world, (struct wick_heap_options){.sample_bytes = 1000});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, "inuse_space", "parse"),
			 llround(100 / (1 - exp(-100.0 / 1000))));
}

static void forgetting_ends_all_blocks_of_all_threads(void **state)
{
	struct world *world = *state;
	struct wick_heap_site site = {.number = 9};

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(wick_heap_writer_thread(world->writer, 1, NULL, &site.thread, NULL), 0);
	assert_int_equal(wick_heap_writer_site(world->writer, &site, NULL), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 50, 9), 0); /* all at one time */
	assert_int_equal(add(world, WICK_HEAP_FORGET, 0, 0, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 5, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, "inuse_space", "parse"), 5);
	assert_int_equal(sum_of(world, "alloc_space", "parse"), 105);
	assert_int_equal(sum_of(world, "peak_space", "parse"), 100);
}

static void new_sites_are_found_once(void **state)
{
	struct world *world = *state;
	struct wick_heap_event events[100];
	uint32_t found[100];

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 5, "known", 0);
	for (uint32_t i = 0; i < 100; i++)
		events[i] = (struct wick_heap_event){
			.address = 16 + i, .site = i % 10, .op = WICK_HEAP_ALLOC};
	events[0] = (struct wick_heap_event){.op = WICK_HEAP_MARK, .site = 77};
	for (int again = 0; again < 2; again++) {
		assert_int_equal(wick_heap_writer_new_sites(world->writer, events, 100, found, 100),
				 9);
		assert_int_equal(found[0], 1);
		assert_int_equal(wick_heap_writer_new_sites(world->writer, events, 100, found, 4),
				 4);
	}
	assert_int_equal(wick_heap_writer_add(world->writer, events, 100, NULL), -ENOENT);
	make_site(world, 1, "one", 0);
	assert_int_equal(wick_heap_writer_new_sites(world->writer, events, 100, found, 100), 8);
	assert_int_equal(wick_heap_writer_new_sites(world->writer, NULL, 1, found, 100), -EINVAL);
}

static void marks_are_events_with_names(void **state)
{
	struct world *world = *state;
	char *text = NULL;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(wick_heap_writer_name_mark(world->writer, 2, "half way", NULL), 0);
	assert_int_equal(add(world, WICK_HEAP_MARK, 0, 2, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_MARK, 0, 8, 0), 0); /* without a name */
	assert_int_equal(wick_heap_writer_lost(world->writer, 17, NULL), 0);
	finish(world);
	load(world, "mark");
	assert_string_equal(wick_profile_value_name(world->profile, 1), "mark");
	assert_int_equal(wick_export_text(world->profile, "pprof", &text, NULL, NULL), 0);
	wick_text_free(text);
	assert_int_equal(sum_of(world, NULL, "parse"), 100); /* the heap comes first */
	assert_int_equal(wick_export_recording(world->path, NULL, "samples", world->other, NULL),
			 0);
}

/* The address of something that is in this program. */
static uint64_t own_code(void)
{
	uint64_t address;
	void (*function)(void **) = marks_are_events_with_names;

	memcpy(&address, &function, sizeof(address));
	return address + 8;
}

static void machine_code_is_named_when_the_file_is_read(void **state)
{
	struct world *world = *state;
	struct wick_heap_frame frame = {.function = "outer"};
	uint64_t addresses[] = {own_code(), own_code()};
	uint32_t outer;
	struct wick_heap_stack stack = {.size = sizeof(stack),
					.frames = &outer,
					.frame_count = 1,
					.addresses = addresses,
					.address_count = 2,
					.cut = 3};
	struct wick_heap_site site = {0};
	struct wick_profile_stack shown = {.size = sizeof(shown)};
	struct wick_live_site live = {.size = sizeof(live)};
	struct wick_live_blocks *blocks = NULL;
	struct wick_stacks *stacks = NULL;

	open_writer(world, (struct wick_heap_options){0});
	assert_int_equal(wick_heap_writer_frame(world->writer, &frame, &outer, NULL), 0);
	assert_int_equal(wick_heap_writer_stack(world->writer, &stack, &site.stack, NULL), 0);
	assert_int_equal(wick_heap_writer_site(world->writer, &site, NULL), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	finish(world);
	load(world, NULL);
	assert_int_equal(wick_stacks_new(world->profile, &stacks, NULL), 0);
	assert_int_equal(wick_stacks_next(stacks, &shown), 1);
	assert_int_equal(shown.frame_count, 4);
	assert_string_equal(shown.frames[0].function, "[truncated]");
	assert_string_equal(shown.frames[1].function, "outer");
	assert_string_equal(shown.frames[2].function, "marks_are_events_with_names");
	assert_string_equal(shown.frames[3].function, "marks_are_events_with_names");
	assert_int_equal(wick_stacks_next(stacks, &shown), 0);
	wick_stacks_free(stacks);
	assert_int_equal(wick_live_blocks_load(world->path, NULL, &blocks, NULL), 0);
	assert_int_equal(wick_live_blocks_site(blocks, 0, &live), 0);
	assert_int_equal(live.cut, 3);
	wick_live_blocks_free(blocks);
}

static void a_whole_file_appears_only_when_it_is_complete(void **state)
{
	struct world *world = *state;

	open_writer(world, (struct wick_heap_options){.whole = 1});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(access(world->path, F_OK), -1);
	wick_heap_writer_close(world->writer);
	world->writer = NULL;
	assert_int_equal(access(world->path, F_OK), -1);
	open_writer(world, (struct wick_heap_options){.whole = 1});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, NULL, "parse"), 100);
}

static void bad_options_and_bad_calls_are_refused(void **state)
{
	struct world *world = *state;
	const struct {
		struct wick_heap_options options;
		int code;
	} bad[] = {
		{{.size = sizeof(bad->options), .probability = 1.5}, -ERANGE},
		{{.size = sizeof(bad->options), .probability = -1}, -ERANGE},
		{{.size = sizeof(bad->options), .probability = NAN}, -ERANGE},
		{{.size = sizeof(bad->options), .probability = 0.5, .sample_bytes = 1}, -EINVAL},
		{{.size = sizeof(bad->options), .block_unit = 24}, -ERANGE},
		{{.size = 0}, -EINVAL},
	};
	struct wick_heap_stack stack = {.size = sizeof(stack), .frame_count = 1};
	const uint32_t none = 999;
	uint32_t id;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct wick_error err = {0};

		assert_int_equal(
			wick_heap_writer_open(world->path, &bad[i].options, &world->writer, &err),
			bad[i].code);
		assert_string_not_equal(err.text, "");
		assert_string_not_equal(err.remedy, "");
	}
	assert_int_equal(wick_heap_writer_open(NULL, NULL, &world->writer, NULL), -EINVAL);
	assert_int_equal(wick_heap_writer_open("/nonexistent/x", NULL, &world->writer, NULL),
			 -ENOENT);
	assert_null(world->writer);
	open_writer(world, (struct wick_heap_options){0});
	assert_int_equal(wick_heap_writer_stack(world->writer, &stack, &id, NULL), -EINVAL);
	stack.frames = &none;
	assert_int_equal(wick_heap_writer_stack(world->writer, &stack, &id, NULL), -ENOENT);
	assert_int_equal(
		wick_heap_writer_site(world->writer, &(struct wick_heap_site){.stack = 99}, NULL),
		-ENOENT);
	assert_int_equal(
		wick_heap_writer_site(world->writer, &(struct wick_heap_site){.space = 256}, NULL),
		-ERANGE);
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0, 1, 0), -EINVAL);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, UINT64_MAX, 1, 0), -EINVAL);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 16, 1, 4000000000u), -ENOENT);
	assert_int_equal(add(world, (enum wick_heap_op)9, 16, 1, 0), -EINVAL);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 16, UINT64_MAX, 0), 0); /* absurd, but valid */
	assert_int_equal(wick_heap_writer_name_mark(world->writer, 1u << 20, "x", NULL), -ERANGE);
	assert_int_equal(wick_heap_writer_flush(NULL, NULL), -EINVAL);
	assert_int_equal(wick_heap_writer_finish(world->writer, NULL), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 16, 1, 0), -EINVAL);
}

static void two_recordings_do_not_share_a_file(void **state)
{
	struct world *world = *state;
	struct wick_heap_writer *second = NULL;
	struct wick_error err = {0};

	open_writer(world, (struct wick_heap_options){0});
	assert_int_equal(wick_heap_writer_open(world->path, NULL, &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "being written by another recording"));
	wick_heap_writer_close(world->writer);
	world->writer = NULL;
	open_writer(world, (struct wick_heap_options){0}); /* it is free again */
}

static void a_child_leaves_the_file_of_its_parent_alone(void **state)
{
	struct world *world = *state;
	int status;
	pid_t child;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	child = fork();
	if (child == 0) {
		int r = wick_heap_writer_flush(world->writer, NULL);

		wick_heap_writer_close(world->writer);
		_exit(r == -ECHILD ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 20, 0), 0);
	finish(world);
	assert_int_equal(sum_of(world, NULL, "parse"), 120);
}

/* The limit of file sizes stands for a full disk: a write fails in the middle of a chunk. */
static void a_full_disk_keeps_what_was_flushed(void **state)
{
	struct world *world = *state;
	struct rlimit old;
	struct rlimit tight;
	struct wick_error err = {0};
	int r = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(wick_heap_writer_flush(world->writer, NULL), 0);
	tight = (struct rlimit){wick_heap_writer_bytes(world->writer) + 100, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (uint64_t i = 0; i < 10000 && r == 0; i++)
		r = add(world, WICK_HEAP_ALLOC, 0x10000 + i * i * 48, i % 977, 0);
	assert_int_equal(r, 0);
	assert_int_equal(wick_heap_writer_flush(world->writer, &err), -EFBIG);
	assert_non_null(strstr(err.text, world->path));
	assert_int_equal(wick_heap_writer_flush(world->writer, NULL), -EFBIG);
	assert_int_equal(wick_heap_writer_finish(world->writer, NULL), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(sum_of(world, "alloc_space", "parse"), 100);
}

static void live_blocks_are_listed_one_by_one(void **state)
{
	struct world *world = *state;
	struct wick_live_site site = {.size = sizeof(site)};
	struct wick_live_blocks *blocks = NULL;
	struct wick_live_block block[3];

	open_writer(world, (struct wick_heap_options){.probability = 0.5});
	make_site(world, 0, "parse", 3);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x2000, 50, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x3000, 7, 0), 0);
	assert_int_equal(add(world, WICK_HEAP_FREE, 0x2000, 0, 0), 0);
	finish(world);
	assert_int_equal(wick_live_blocks_load(world->path, NULL, &blocks, NULL), 0);
	assert_int_equal(wick_live_blocks_count(blocks), 2);
	assert_int_equal(wick_live_blocks_get(blocks, 0, 3, block), 2);
	assert_int_equal(wick_live_blocks_get(blocks, 2, 3, block), 0);
	assert_int_equal(block[0].size + block[1].size, 107);
	assert_int_equal(block[0].address + block[1].address, 0x4000);
	assert_true(block[0].weight == 2 && block[1].weight == 2);
	assert_int_equal(wick_live_blocks_site(blocks, block[0].site, &site), 0);
	assert_int_equal(site.frame_count, 2);
	assert_string_equal(site.frames[1].function, "parse");
	assert_int_equal(site.frames[1].line, 10);
	assert_int_equal(site.tid, getpid());
	assert_string_equal(site.thread, "worker");
	assert_int_equal(wick_live_blocks_site(blocks, 99, &site), -ENOENT);
	wick_live_blocks_free(blocks);
	assert_int_equal(wick_live_blocks_load("/nonexistent", NULL, &blocks, NULL), -ENOENT);
	assert_int_equal(wick_live_blocks_load(NULL, NULL, &blocks, NULL), -EINVAL);
	wick_live_blocks_free(NULL);
}

static void pages_are_written_about_it(void **state)
{
	struct world *world = *state;
	struct stat status;

	open_writer(world, (struct wick_heap_options){0});
	make_site(world, 0, "parse", 0);
	assert_int_equal(add(world, WICK_HEAP_ALLOC, 0x1000, 100, 0), 0);
	finish(world);
	for (uint32_t kind = WICK_PAGE_FLAME; kind <= WICK_PAGE_HEAP; kind++) {
		assert_int_equal(wick_page(world->path, NULL, kind, world->other, NULL), 0);
		assert_int_equal(stat(world->other, &status), 0);
		assert_in_range(status.st_size, 10000, 1000000);
	}
	assert_int_equal(wick_page(world->path, NULL, 2, world->other, NULL), -EINVAL);
	open_writer(world, (struct wick_heap_options){0}); /* without any block */
	finish(world);
	assert_int_equal(wick_page(world->path, NULL, WICK_PAGE_HEAP, world->other, NULL), 0);
	assert_int_equal(wick_page(world->path, NULL, WICK_PAGE_FLAME, world->other, NULL), 0);
	assert_int_equal(wick_page("/nonexistent", NULL, 0, world->other, NULL), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(allocations_and_frees_come_back_by_stack),
		TEST(what_was_flushed_can_be_read_while_the_file_grows),
		TEST(spaces_keep_equal_addresses_apart),
		TEST(sites_have_two_lists_and_may_be_hidden),
		TEST(sampled_blocks_have_weights),
		TEST(forgetting_ends_all_blocks_of_all_threads),
		TEST(new_sites_are_found_once),
		TEST(marks_are_events_with_names),
		TEST(machine_code_is_named_when_the_file_is_read),
		TEST(a_whole_file_appears_only_when_it_is_complete),
		TEST(bad_options_and_bad_calls_are_refused),
		TEST(two_recordings_do_not_share_a_file),
		TEST(a_child_leaves_the_file_of_its_parent_alone),
		TEST(a_full_disk_keeps_what_was_flushed),
		TEST(live_blocks_are_listed_one_by_one),
		TEST(pages_are_written_about_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
