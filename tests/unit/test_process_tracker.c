/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fake_sink.h"
#include "proc/maps.h"
#include "process_stacks/process_tracker.h"

/* Above every pid_max: /proc knows nothing of them. */
#define PID 5000000
#define CHILD 5000100
#define OTHER 5000200

#define BASE 0x7f0000000000u

struct world {
	struct fake_sink fake;
	struct process_tracker *tracker;
	struct tracked_process *process; /* of the last sample */
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	fake_sink_init(&world->fake);
	world->tracker = process_tracker_new(&world->fake.sink);
	assert_non_null(world->tracker);
	*state = world;
	return 0;
}

/* Everything must be the same for whoever looks at samples. */
static int set_up_lazy(void **state)
{
	struct world *world;

	(void)set_up(state);
	world = *state;
	process_tracker_set_lazy(world->tracker, false);
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	process_tracker_free(world->tracker);
	fake_sink_fini(&world->fake);
	free(world);
	return 0;
}

static struct build_id build_id_of(uint8_t first)
{
	return (struct build_id){.size = 20, .bytes = {first}};
}

/* Maps one page of a library that is on no disk, known by its build id. */
static void map_library(struct world *world, uint64_t time_ns, pid_t pid, uint64_t start,
			uint8_t id)
{
	char path[32];
	struct build_id build_id = build_id_of(id);
	struct map_region region = {.start = start,
				    .end = start + 0x1000,
				    .path = path,
				    .kind = REGION_FILE,
				    .protection = REGION_EXEC};

	(void)snprintf(path, sizeof(path), "/nowhere/lib%u.so", id);
	process_tracker_map(world->tracker, time_ns, pid, &region, &build_id);
}

static const struct thread *sample(struct world *world, pid_t pid, pid_t tid)
{
	uint32_t thread;

	assert_int_equal(process_tracker_sample(world->tracker, pid, tid, &world->process, &thread),
			 0);
	return &world->fake.dictionary.threads.items[thread];
}

static const struct process *process_of(const struct world *world, const struct thread *thread)
{
	return &world->fake.dictionary.processes.items[thread->process];
}

/* The first byte of the build id of the module that holds the address, 0 for none. */
static int library_at(const struct world *world, uint64_t time_ns, uint64_t address)
{
	struct frame frame = tracked_process_frame(world->process, time_ns, address);

	assert_int_equal(frame.kind, FRAME_NATIVE);
	if (frame.a == MODULE_NONE) {
		assert_int_equal(frame.b, address);
		return 0;
	}
	return world->fake.dictionary.modules.items[frame.a].build_id.bytes[0];
}

static void a_fork_inherits_the_maps_of_its_parent(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "parent", true);
	map_library(world, 11, PID, BASE, 1);
	process_tracker_fork(world->tracker, 20, CHILD, CHILD, PID, PID);
	map_library(world, 30, PID, BASE + 0x10000, 2);

	assert_int_equal(process_of(world, sample(world, CHILD, CHILD))->parent_pid, PID);
	assert_int_equal(library_at(world, 40, BASE + 0x10), 1);
	assert_int_equal(library_at(world, 40, BASE + 0x10010), 0); /* mapped after the fork */
	assert_int_equal(world->fake.maps.count, 1);                /* the parent was not sampled */
}

static void a_process_that_is_never_sampled_is_never_told_of(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "parent", true);
	map_library(world, 11, PID, BASE, 1);
	process_tracker_fork(world->tracker, 20, CHILD, CHILD, PID, PID);
	process_tracker_exit(world->tracker, CHILD, CHILD);
	assert_int_equal(world->fake.process_calls, 0);
	assert_int_equal(world->fake.maps.count, 0);
}

static void an_exec_makes_another_process_with_nothing_mapped(void **state)
{
	struct world *world = *state;
	const struct process *before;
	const struct process *after;
	uint64_t context;

	process_tracker_comm(world->tracker, 10, PID, PID, "sh", true);
	map_library(world, 11, PID, BASE, 1);
	before = process_of(world, sample(world, PID, PID));
	assert_int_equal(before->exec_count, 0);
	assert_string_equal(before->executable, "/nowhere/lib1.so");
	context = tracked_process_context(world->process, 12);

	process_tracker_comm(world->tracker, 20, PID, PID, "app", true);
	assert_int_equal(library_at(world, 21, BASE), 0);
	assert_int_not_equal(tracked_process_context(world->process, 21), context);
	map_library(world, 22, PID, BASE + 0x5000, 2);
	after = process_of(world, sample(world, PID, PID));
	assert_int_equal(after->exec_count, 1);
	assert_string_equal(after->comm, "app");
	assert_string_equal(after->executable, "/nowhere/lib2.so");
	assert_int_equal(library_at(world, 23, BASE + 0x5000), 2);
}

static void the_exec_of_a_thread_keeps_the_process_alive(void **state)
{
	struct world *world = *state;
	struct map_region region = {
		.start = BASE, .end = BASE + 0x1000, .kind = REGION_ANONYMOUS, .path = ""};
	size_t i;

	/* The kernel ends the leader, then the thread goes on under its pid. */
	process_tracker_comm(world->tracker, 10, PID, PID, "sh", true);
	process_tracker_exit(world->tracker, PID, PID);
	process_tracker_comm(world->tracker, 20, PID, PID, "app", true);
	process_tracker_exit(world->tracker, PID, PID + 1);
	process_tracker_map(world->tracker, 21, PID, &region, NULL);
	/* It ends for good: that counts as its end, so its maps go after many others. */
	process_tracker_exit(world->tracker, PID, PID);
	for (i = 0; i < 100; i++) {
		process_tracker_comm(world->tracker, 30, CHILD + (pid_t)i, CHILD + (pid_t)i, "x",
				     true);
		process_tracker_exit(world->tracker, CHILD + (pid_t)i, CHILD + (pid_t)i);
	}
	(void)sample(world, PID, PID);
	assert_int_equal(tracked_process_frame(world->process, 40, BASE).a, MODULE_NONE);
}

static void a_thread_bears_the_name_of_the_thread_that_made_it(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	process_tracker_fork(world->tracker, 11, PID, PID + 1, PID, PID);
	process_tracker_comm(world->tracker, 12, PID, PID + 1, "pool", false);
	process_tracker_fork(world->tracker, 13, PID, PID + 2, PID, PID + 1);
	process_tracker_fork(world->tracker, 14, CHILD, CHILD, PID, PID + 1);
	assert_string_equal(sample(world, PID, PID)->comm, "app");
	assert_string_equal(sample(world, PID, PID + 1)->comm, "pool");
	assert_string_equal(sample(world, PID, PID + 2)->comm, "pool");
	assert_string_equal(sample(world, CHILD, CHILD)->comm, "pool");
}

static void a_thread_that_changes_its_name_is_another_entry_from_then_on(void **state)
{
	struct world *world = *state;
	uint32_t before;
	uint32_t after;
	uint32_t again;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	process_tracker_sample(world->tracker, PID, PID, &world->process, &before);
	process_tracker_comm(world->tracker, 11, PID, PID, "worker", false);
	process_tracker_sample(world->tracker, PID, PID, &world->process, &after);
	process_tracker_sample(world->tracker, PID, PID, &world->process, &again);
	assert_int_not_equal(before, after);
	assert_int_equal(after, again);
	assert_string_equal(world->fake.dictionary.threads.items[before].comm, "app");
	assert_string_equal(world->fake.dictionary.threads.items[after].comm, "worker");
	assert_int_equal(world->fake.dictionary.threads.items[before].process,
			 world->fake.dictionary.threads.items[after].process);
}

/* A region of the file that this test is. */
static void region_of_self(struct map_region *region, char *path, size_t size, uint64_t start)
{
	struct stat status;
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(stat(path, &status), 0);
	*region = (struct map_region){.start = start,
				      .end = start + 0x1000,
				      .path = path,
				      .inode = status.st_ino,
				      .device = status.st_dev,
				      .kind = REGION_FILE,
				      .protection = REGION_EXEC};
}

static void a_file_that_two_processes_map_is_asked_for_once(void **state)
{
	struct world *world = *state;
	uint64_t now_ns = clock_monotonic_ns(); /* after this program was written */
	struct map_region region;
	char path[4096];
	uint32_t module;

	process_tracker_comm(world->tracker, now_ns, PID, PID, "a", true);
	process_tracker_comm(world->tracker, now_ns, OTHER, OTHER, "b", true);
	region_of_self(&region, path, sizeof(path), BASE);
	process_tracker_map(world->tracker, now_ns + 1, PID, &region, NULL);
	region_of_self(&region, path, sizeof(path), BASE + 0x70000);
	process_tracker_map(world->tracker, now_ns + 2, OTHER, &region, NULL);
	assert_int_equal(world->fake.module_calls, 1);

	(void)sample(world, PID, PID);
	module = tracked_process_frame(world->process, now_ns + 9, BASE + 0x10).a;
	(void)sample(world, OTHER, OTHER);
	assert_int_equal(tracked_process_frame(world->process, now_ns + 9, BASE + 0x70010).a,
			 module);
}

/* A file of its own with the contents of this program. */
static void copy_self(char *path)
{
	static char piece[65536];
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = mkstemp(path);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, piece, sizeof(piece))) > 0)
		assert_int_equal(write(out, piece, (size_t)n), n);
	assert_int_equal(close(in) + close(out), 0);
}

static void set_age(const char *path, uint64_t age_ns)
{
	uint64_t time_ns = clock_realtime_ns() - age_ns;
	struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
				   {.tv_sec = (time_t)(time_ns / NS_PER_SEC),
				    .tv_nsec = (long)(time_ns % NS_PER_SEC)}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The size of the module that a mapping of a file at a time is; 0 if nothing is known about it. */
static uint64_t size_when_mapped(struct world *world, uint64_t time_ns, const char *path,
				 uint64_t start)
{
	struct map_region region = {.start = start,
				    .end = start + 0x1000,
				    .path = path,
				    .kind = REGION_FILE,
				    .protection = REGION_EXEC};
	struct stat status;
	struct frame frame;

	assert_int_equal(stat(path, &status), 0);
	region.inode = status.st_ino;
	region.device = status.st_dev;
	process_tracker_map(world->tracker, time_ns, PID, &region, NULL);
	(void)sample(world, PID, PID);
	frame = tracked_process_frame(world->process, time_ns, start + 0x10);
	return world->fake.dictionary.modules.items[frame.a].size_bytes;
}

static void a_file_that_was_rewritten_since_is_not_the_known_one(void **state)
{
	struct world *world = *state;
	uint64_t now_ns = clock_monotonic_ns();
	char path[] = "/tmp/wick-tracker-XXXXXX";

	process_tracker_comm(world->tracker, now_ns - NS_PER_SEC, PID, PID, "a", true);
	copy_self(path);
	set_age(path, 3600 * NS_PER_SEC);
	assert_true(size_when_mapped(world, now_ns - NS_PER_SEC, path, BASE) > 0);
	set_age(path, 0);
	assert_int_equal(size_when_mapped(world, now_ns - NS_PER_MS, path, BASE + 0x10000), 0);
	assert_int_equal(world->fake.dictionary.modules.count, 2);
	unlink(path);
}

static void a_file_that_could_not_be_read_is_tried_again_by_the_next_process(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "a", true);
	process_tracker_comm(world->tracker, 10, OTHER, OTHER, "b", true);
	map_library(world, 11, PID, BASE, 1);
	map_library(world, 12, OTHER, BASE, 1);
	assert_int_equal(world->fake.module_calls, 2);
	assert_int_equal(world->fake.dictionary.modules.count, 1); /* one build id, one module */
}

static void an_address_that_was_used_before_resolves_by_time(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	map_library(world, 100, PID, BASE, 1);
	map_library(world, 200, PID, BASE, 2);
	(void)sample(world, PID, PID);
	assert_int_equal(library_at(world, 50, BASE + 8), 0);
	assert_int_equal(library_at(world, 150, BASE + 8), 1); /* a sample that comes late */
	assert_int_equal(library_at(world, 250, BASE + 8), 2);
	assert_int_not_equal(tracked_process_context(world->process, 150),
			     tracked_process_context(world->process, 250));
}

static void samples_that_come_after_the_end_still_resolve(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	map_library(world, 11, PID, BASE, 1);
	process_tracker_exit(world->tracker, PID, PID);
	assert_string_equal(sample(world, PID, PID)->comm, "app");
	assert_int_equal(library_at(world, 12, BASE), 1);
}

static void the_end_of_one_thread_is_not_the_end_of_the_process(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	process_tracker_fork(world->tracker, 11, PID, PID + 1, PID, PID);
	process_tracker_exit(world->tracker, PID, PID + 1);
	map_library(world, 12, PID, BASE, 1);
	(void)sample(world, PID, PID);
	assert_int_equal(library_at(world, 13, BASE), 1);
}

static void a_pid_that_comes_again_is_another_process(void **state)
{
	struct world *world = *state;
	const struct process *first;
	const struct process *second;

	process_tracker_comm(world->tracker, 5, OTHER, OTHER, "shell", true);
	process_tracker_fork(world->tracker, 10, PID, PID, OTHER, OTHER);
	map_library(world, 11, PID, BASE, 1);
	first = process_of(world, sample(world, PID, PID));
	process_tracker_exit(world->tracker, PID, PID);
	process_tracker_fork(world->tracker, 100, PID, PID, OTHER, OTHER);
	second = process_of(world, sample(world, PID, PID));
	assert_int_equal(first->start_ns, 10);
	assert_int_equal(second->start_ns, 100);
	assert_int_equal(library_at(world, 101, BASE), 0);
}

static void a_tid_that_comes_again_in_another_process_is_another_thread(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "a", true);
	process_tracker_comm(world->tracker, 10, OTHER, OTHER, "b", true);
	process_tracker_fork(world->tracker, 11, PID, CHILD, PID, PID);
	assert_int_equal(process_of(world, sample(world, PID, CHILD))->pid, PID);
	assert_int_equal(process_of(world, sample(world, OTHER, CHILD))->pid, OTHER);
}

static void anonymous_memory_belongs_to_its_process(void **state)
{
	struct world *world = *state;
	struct map_region region = {
		.start = BASE, .end = BASE + 0x1000, .kind = REGION_ANONYMOUS, .path = ""};
	struct frame a;
	struct frame b;

	process_tracker_comm(world->tracker, 10, PID, PID, "a", true);
	process_tracker_comm(world->tracker, 10, OTHER, OTHER, "b", true);
	process_tracker_map(world->tracker, 11, PID, &region, NULL);
	process_tracker_map(world->tracker, 11, OTHER, &region, NULL);
	(void)sample(world, PID, PID);
	a = tracked_process_frame(world->process, 20, BASE + 0x123);
	(void)sample(world, OTHER, OTHER);
	b = tracked_process_frame(world->process, 20, BASE + 0x123);
	assert_int_equal(a.b, BASE + 0x123); /* its vaddrs are the raw addresses */
	assert_int_not_equal(a.a, b.a);
	assert_int_equal(world->fake.dictionary.modules.items[a.a].kind, MODULE_ANONYMOUS);
	assert_int_not_equal(world->fake.dictionary.modules.items[a.a].owner,
			     world->fake.dictionary.modules.items[b.a].owner);
}

static void a_sample_of_nobody_is_not_taken_for_one_of_ours(void **state)
{
	struct world *world = *state;
	const struct thread *thread = sample(world, 0, 0);

	assert_string_equal(thread->comm, "[unknown]");
	assert_int_equal(process_of(world, thread)->pid, 0);
	assert_string_equal(process_of(world, thread)->executable, "");
	assert_int_equal(world->fake.maps.count, 0);
}

static void a_sample_of_a_process_that_is_gone_is_kept_without_a_name(void **state)
{
	struct world *world = *state;
	const struct thread *thread = sample(world, PID, PID + 1);

	assert_int_equal(process_of(world, thread)->pid, PID);
	assert_int_equal(thread->tid, PID + 1);
	assert_int_equal(library_at(world, 10, BASE), 0);
}

static void a_running_process_is_learnt_from_proc(void **state)
{
	struct world *world = *state;
	uint64_t here = (uint64_t)(uintptr_t)&a_running_process_is_learnt_from_proc;
	struct frame frame;

	(void)sample(world, getpid(), getpid());
	frame = tracked_process_frame(world->process, 10, here);
	assert_int_not_equal(frame.a, MODULE_NONE);
	assert_non_null(
		strstr(world->fake.dictionary.modules.items[frame.a].path, "test_process_tracker"));
}

static void a_mapping_of_a_process_not_seen_before_does_not_hide_its_other_maps(void **state)
{
	struct world *world = *state;
	uint64_t here = (uint64_t)(uintptr_t)&a_running_process_is_learnt_from_proc;

	map_library(world, 10, getpid(), 0x10000, 1);
	(void)sample(world, getpid(), getpid());
	assert_int_equal(library_at(world, 20, 0x10000), 1);
	assert_int_not_equal(tracked_process_frame(world->process, 20, here).a, MODULE_NONE);
}

static void a_process_that_is_not_there_cannot_be_seeded(void **state)
{
	struct world *world = *state;

	assert_int_equal(process_tracker_seed(world->tracker, PID, NULL), -ESRCH);
}

static void kernel_frames_share_one_module(void **state)
{
	struct world *world = *state;
	struct frame a = process_tracker_kernel_frame(world->tracker, 0xffff000012345678);
	struct frame b = process_tracker_kernel_frame(world->tracker, 0xffff000012345679);

	assert_int_equal(a.kind, FRAME_KERNEL);
	assert_int_equal(a.b, 0xffff000012345678);
	assert_int_equal(a.a, b.a);
	assert_int_equal(world->fake.module_calls, 1);
}

static void name_thread(void *self, const struct tracked_process *process, bool is_new)
{
	struct world *world = self;

	if (is_new) {
		process_tracker_name(world->tracker, process, PID + 1, "reader of a list");
		process_tracker_name(world->tracker, process, OTHER, "not its thread");
	}
}

static void a_program_names_its_own_threads_and_no_others(void **state)
{
	struct world *world = *state;

	process_tracker_comm(world->tracker, 10, PID, PID, "app", true);
	process_tracker_comm(world->tracker, 10, OTHER, OTHER, "b", true);
	process_tracker_comm(world->tracker, 12, PID, PID + 1, "pool", false);
	process_tracker_comm(world->tracker, 12, PID, PID + 2, "pool", false);
	process_tracker_set_namer(world->tracker, &(struct thread_namer){name_thread, world});
	assert_string_equal(sample(world, PID, PID)->comm, "app");
	assert_string_equal(sample(world, PID, PID + 1)->comm, "reader of a list");
	assert_string_equal(sample(world, PID, PID + 2)->comm, "pool");
	assert_string_equal(sample(world, OTHER, OTHER)->comm, "b");
	/* The kernel's name does not replace it. */
	process_tracker_comm(world->tracker, 13, PID, PID + 1, "reader of a li", false);
	process_tracker_set_namer(world->tracker, &(struct thread_namer){0});
	assert_string_equal(sample(world, PID, PID + 1)->comm, "reader of a list");
}

static void processes_that_ended_long_ago_are_forgotten(void **state)
{
	struct world *world = *state;
	const struct thread *thread;

	process_tracker_comm(world->tracker, 10, PID, PID, "server", true);
	map_library(world, 11, PID, BASE, 1);
	for (pid_t i = 0; i < 20000; i++) {
		process_tracker_fork(world->tracker, 20, CHILD + i, CHILD + i, PID, PID);
		process_tracker_fork(world->tracker, 20, PID, OTHER + 20000 + i, PID, PID);
		if (i % 100 == 0)
			(void)sample(world, CHILD + i, CHILD + i);
		process_tracker_exit(world->tracker, CHILD + i, CHILD + i);
		process_tracker_exit(world->tracker, PID, OTHER + 20000 + i);
	}
	assert_null(process_tracker_find(world->tracker, CHILD));
	assert_string_equal(process_tracker_thread_name(world->tracker, CHILD), "");
	assert_string_equal(process_tracker_thread_name(world->tracker, OTHER + 20000), "");
	/* The last ones, and those that are alive, stay. */
	assert_non_null(process_tracker_find(world->tracker, CHILD + 19999));
	assert_string_equal(process_tracker_thread_name(world->tracker, CHILD + 19999), "server");
	thread = sample(world, PID, PID);
	assert_string_equal(thread->comm, "server");
	assert_int_equal(library_at(world, 40, BASE), 1);
	/* A pid that was forgotten can come again. */
	process_tracker_fork(world->tracker, 50, CHILD, CHILD, PID, PID);
	assert_int_equal(process_of(world, sample(world, CHILD, CHILD))->start_ns, 50);
	assert_int_equal(library_at(world, 60, BASE), 1);
}

/* Neither are its files looked at. */
static void what_a_process_maps_waits_for_its_first_sample(void **state)
{
	struct world *world = *state;
	struct map_region region = {.start = BASE,
				    .end = BASE + 0x1000,
				    .path = "/nowhere/program",
				    .kind = REGION_FILE,
				    .protection = REGION_EXEC};

	process_tracker_comm(world->tracker, 10, PID, PID, "parent", true);
	assert_false(process_tracker_map(world->tracker, 11, PID, &region, NULL));
	process_tracker_fork(world->tracker, 20, CHILD, CHILD, PID, PID);
	assert_int_equal(world->fake.dictionary.modules.count, 0);
	assert_non_null(process_tracker_find_mapped(world->tracker, PID));
	assert_int_equal(world->fake.dictionary.modules.count, 1);
	assert_string_equal(process_of(world, sample(world, CHILD, CHILD))->executable,
			    "/nowhere/program");
	region.start += 0x10000;
	region.end += 0x10000;
	assert_true(process_tracker_map(world->tracker, 30, CHILD, &region, NULL));
}

int main(void)
{
#define EAGER(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST(name) EAGER(name), cmocka_unit_test_setup_teardown(name, set_up_lazy, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_fork_inherits_the_maps_of_its_parent),
		TEST(a_process_that_is_never_sampled_is_never_told_of),
		TEST(an_exec_makes_another_process_with_nothing_mapped),
		TEST(the_exec_of_a_thread_keeps_the_process_alive),
		TEST(a_thread_bears_the_name_of_the_thread_that_made_it),
		TEST(a_thread_that_changes_its_name_is_another_entry_from_then_on),
		EAGER(a_file_that_two_processes_map_is_asked_for_once),
		TEST(a_file_that_was_rewritten_since_is_not_the_known_one),
		EAGER(a_file_that_could_not_be_read_is_tried_again_by_the_next_process),
		TEST(an_address_that_was_used_before_resolves_by_time),
		TEST(samples_that_come_after_the_end_still_resolve),
		TEST(the_end_of_one_thread_is_not_the_end_of_the_process),
		TEST(a_pid_that_comes_again_is_another_process),
		TEST(a_tid_that_comes_again_in_another_process_is_another_thread),
		TEST(anonymous_memory_belongs_to_its_process),
		TEST(a_sample_of_nobody_is_not_taken_for_one_of_ours),
		TEST(a_sample_of_a_process_that_is_gone_is_kept_without_a_name),
		TEST(a_running_process_is_learnt_from_proc),
		TEST(a_mapping_of_a_process_not_seen_before_does_not_hide_its_other_maps),
		TEST(a_process_that_is_not_there_cannot_be_seeded),
		TEST(kernel_frames_share_one_module),
		TEST(a_program_names_its_own_threads_and_no_others),
		TEST(processes_that_ended_long_ago_are_forgotten),
		cmocka_unit_test_setup_teardown(what_a_process_maps_waits_for_its_first_sample,
						set_up_lazy, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
