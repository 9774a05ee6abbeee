/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/offcpu_locks.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/offcpu_places.h"
#include "engine/perf/perf_sample.h"
#include "fake_sink.h"
#include "model/entity.h"
#include "perf_records/perf_record.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "wire/bpf_offcpu.h"

#define NOBODY 0x3fffffff /* no process has that id */

static pthread_mutex_t in_file = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t zero_at_start;

struct world {
	struct fake_sink fake;
	struct offcpu_locks *locks;
};

static int set_up(void **state)
{
	static struct world world;

	fake_sink_init(&world.fake);
	world.locks = offcpu_locks_new(&world.fake.sink, NULL);
	assert_non_null(world.locks);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	offcpu_locks_free(world->locks);
	fake_sink_fini(&world->fake);
	return 0;
}

/* The lock of a label set, which is of a sleep. */
static const char *lock_in(const struct world *world, uint32_t id)
{
	struct label labels[LABELS_MAX];

	assert_int_not_equal(id, 0);
	assert_int_equal(label_sets_get(&world->fake.dictionary.labels,
					&world->fake.dictionary.strings, id, labels),
			 2);
	assert_string_equal(labels[0].key, "lock");
	assert_string_equal(labels[1].key, "state");
	assert_string_equal(labels[1].value, "sleeping");
	return labels[0].value;
}

/* The label of a lock of a process. */
static const char *lock_of(const struct world *world, pid_t pid, uint64_t address)
{
	struct offcpu_lock_owner owner = {.number = (uint32_t)pid, .pid = pid};

	return lock_in(world, offcpu_locks_label(world->locks, &owner, address, 1000));
}

static void assert_ends_with_address(const char *text, const char *kind, uint64_t address)
{
	char wanted[64];

	(void)snprintf(wanted, sizeof(wanted), "%s 0x%" PRIx64, kind, address);
	assert_string_equal(text, wanted);
}

/* Both have the distance in the file that they have in memory. */
static void globals_are_told_by_their_file(void **state)
{
	const char *one = lock_of(*state, getpid(), (uintptr_t)&in_file);
	const char *other = lock_of(*state, getpid(), (uintptr_t)&zero_at_start);
	unsigned long long one_vaddr, other_vaddr;

	assert_int_equal(one[0], '/');
	assert_non_null(strstr(one, "test_offcpu_locks+0x"));
	assert_non_null(strstr(other, "test_offcpu_locks+0x"));
	assert_int_equal(sscanf(strrchr(one, '+'), "+0x%llx", &one_vaddr), 1);
	assert_int_equal(sscanf(strrchr(other, '+'), "+0x%llx", &other_vaddr), 1);
	assert_int_equal(other_vaddr - one_vaddr, (uintptr_t)&zero_at_start - (uintptr_t)&in_file);
}

static void other_memory_is_told_by_its_kind(void **state)
{
	uint64_t on_stack = 0;
	void *pages = mmap(NULL, 4 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_ends_with_address(lock_of(*state, getpid(), (uintptr_t)&on_stack), "[stack]",
				 (uintptr_t)&on_stack);
	assert_ends_with_address(lock_of(*state, getpid(), (uintptr_t)pages + 8), "[anonymous]",
				 (uintptr_t)pages + 8);
	assert_int_equal(munmap(pages, 4 * 4096), 0);
}

/* What is mapped after the map was read is found all the same. */
static void memory_that_is_new_is_found(void **state)
{
	FILE *file = tmpfile();
	char *shared;

	(void)lock_of(*state, getpid(), (uintptr_t)&in_file);
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 3L * sysconf(_SC_PAGESIZE)), 0);
	shared = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fileno(file), 2L * sysconf(_SC_PAGESIZE));
	assert_true(shared != MAP_FAILED);
	/* Processes have it at different addresses: its place in the file is the same. */
	{
		const char *lock = lock_of(*state, getpid(), (uintptr_t)shared + 64);
		char wanted[64];

		(void)snprintf(wanted, sizeof(wanted), "+0x%lx", 2L * sysconf(_SC_PAGESIZE) + 64);
		assert_string_equal(strrchr(lock, '+'), wanted);
	}
	assert_int_equal(munmap(shared, (size_t)sysconf(_SC_PAGESIZE)), 0);
	assert_int_equal(fclose(file), 0);
}

static void of_a_process_that_is_gone_the_address_is_known(void **state)
{
	assert_string_equal(lock_of(*state, NOBODY, 0x7f0012345678), "0x7f0012345678");
}

static void what_is_too_much_is_told_together(void **state)
{
	for (uint64_t i = 0; i < AWAY_LOCKS_MAX; i++)
		assert_string_not_equal(lock_of(*state, NOBODY, 0x1000 + i * 8), AWAY_LOCKS_OTHERS);
	assert_string_equal(lock_of(*state, NOBODY, 0x1000 + AWAY_LOCKS_MAX * 8),
			    AWAY_LOCKS_OTHERS);
	assert_string_equal(lock_of(*state, NOBODY, 0x1008), "0x1008");
}

/* Sums come without a stack of their own; there are as many waits as they tell of. */
static void waits_that_were_added_up_have_the_lock_and_their_number(void **state)
{
	struct world *world = *state;
	struct bpf_walk_away away = {
		.head = {.kind = BPF_WALK_AWAY_SUMS},
		.times = {.tid = NOBODY, .tgid = NOBODY, .lock = 0x5000, .comm = "gone"},
		.sums = {.pc = 1,
			 .sp = 2,
			 .lock = 0x5000,
			 .count = 9,
			 .slept_ns = 2700,
			 .waited_ns = 50,
			 .state = BPF_WALK_SLEEPING}};
	struct sample_record sample = {.raw = (const uint8_t *)&away.head,
				       .raw_bytes = BPF_WALK_AWAY_BYTES,
				       .time_ns = 1000};
	struct bpf_programs *programs = calloc(1, sizeof(*programs));
	struct sample_output *output = calloc(1, sizeof(*output));
	const struct fake_sample *samples;

	assert_non_null(programs);
	assert_non_null(output);
	programs->output = output;
	output->sink = &world->fake.sink;
	output->tracker = process_tracker_new(output->sink);
	output->cache = stack_cache_new();
	programs->places = offcpu_places_new();
	programs->locks = world->locks;
	assert_int_equal(bpf_sample_away(programs, &sample, NULL), 0);
	assert_int_equal(perf_flush(output, NULL), 0);
	samples = world->fake.samples.items;
	assert_int_equal(world->fake.samples.count, 2);
	assert_int_equal(samples[0].weight, 2700);
	assert_int_equal(samples[0].times, 9);
	assert_int_equal(output->stats.offcpu.repeated, 8);
	assert_string_equal(lock_of(world, NOBODY, 0x5000), "0x5000");
	assert_string_equal(lock_in(world, samples[0].labels), "0x5000");
	/* The time until it has a CPU is not the lock's. */
	assert_int_equal(samples[1].weight, 50);
	assert_true(samples[1].times <= 1);
	assert_int_equal(world->fake.dictionary.labels.sets.items[samples[1].labels].count, 1);
	offcpu_places_free(programs->places);
	stack_cache_free(output->cache);
	process_tracker_free(output->tracker);
	free(output);
	free(programs);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(globals_are_told_by_their_file),
		TEST(other_memory_is_told_by_its_kind),
		TEST(memory_that_is_new_is_found),
		TEST(of_a_process_that_is_gone_the_address_is_known),
		TEST(what_is_too_much_is_told_together),
		TEST(waits_that_were_added_up_have_the_lock_and_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
