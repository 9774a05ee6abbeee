/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/signal/process_file.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "preload/session_file.h"

/*
 * Both ends of a program's ring: what src/preload writes is what the recorder reads, from
 * the same file.
 */

#define RING_WORDS 1024u
#define RINGS_OFFSET 4096u
#define DEPTH 10u
#define SAMPLE_WORDS (sizeof(struct session_sample) / 8)
#define FLOOD 200000u

struct preload_runtime preload;

void session_file_wake(void)
{
}

struct world {
	char folder[64];
	struct session_control control;
	uint8_t *memory;
	struct preload_thread *thread;
	struct process_file *file;

	/* What was read. */
	uint64_t read;
	uint64_t first;   /* ticks */
	uint64_t last;    /* likewise */
	uint64_t more;    /* samples to write when the next is read */
	bool with_labels; /* each sample has one that is its ticks */
};

static void make_file(struct world *world)
{
	char path[96];
	struct session_process head = {
		.magic = SESSION_MAGIC,
		.version = SESSION_VERSION,
		.pid = 1,
		.slot_count = 1,
		.ring_words = RING_WORDS,
		.slots_offset = 1024,
		.rings_offset = RINGS_OFFSET,
		.rings = 1,
	};
	size_t bytes = RINGS_OFFSET + RING_WORDS * 8;
	int fd;

	(void)snprintf(world->folder, sizeof(world->folder), "/tmp/test-ring-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	(void)snprintf(path, sizeof(path), "%s/1.1.0", world->folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_fallocate(fd, 0, (off_t)bytes), 0);
	world->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(world->memory, MAP_FAILED);
	memcpy(world->memory, &head, sizeof(head));
	assert_int_equal(process_file_open(world->folder, "1.1.0", &world->file), 0);
	(void)close(fd);
	(void)unlink(path);
	(void)rmdir(world->folder);
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct preload_thread *thread = calloc(1, sizeof(*thread));

	assert_non_null(world);
	assert_non_null(thread);
	make_file(world);
	world->control = (struct session_control){.ring_words = RING_WORDS, .overwrite_old = 1};
	world->file->overwritten = true;
	preload.control = &world->control;
	thread->slot = (struct session_slot *)(world->memory + 1024);
	atomic_store(&thread->slot->state, SESSION_SLOT_TAKEN);
	thread->ring = (uint64_t *)(world->memory + RINGS_OFFSET);
	thread->ring_words = RING_WORDS;
	thread->written = thread->stacks[0];
	thread->pcs = thread->stacks[1];
	world->thread = thread;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	process_file_close(world->file);
	(void)munmap(world->memory, RINGS_OFFSET + RING_WORDS * 8);
	free(world->thread);
	free(world);
	return 0;
}

/* A sample all of whose words tell which it is; of some the stack is shorter. */
static uint32_t depth_of(uint64_t ticks)
{
	return 1 + (uint32_t)(ticks % DEPTH);
}

static void write_sample(struct world *world, uint64_t ticks)
{
	struct preload_thread *thread = world->thread;
	struct ring_sample sample = {.ticks = ticks,
				     .weight_ns = ticks * 2,
				     .count = depth_of(ticks),
				     .flags = UNWIND_ROOT};

	for (uint32_t i = 0; i < sample.count; i++)
		thread->pcs[i] = ticks * 100 + i;
	thread->label_bytes = 0;
	if (world->with_labels)
		thread->label_bytes = (uint32_t)snprintf(thread->labels, sizeof(thread->labels),
							 "tick%c%llu%c" SESSION_TEXT_END, '\0',
							 (unsigned long long)ticks, '\0') +
				      1;
	ring_put_sample(thread, &sample);
}

static void write_samples(struct world *world, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		write_sample(world, first + i);
}

static void check_label(const struct process_sample *sample)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)sample->ticks);
	assert_int_equal(sample->label_bytes, 5 + strlen(text) + 1);
	assert_string_equal(sample->labels, "tick");
	assert_string_equal(sample->labels + 5, text);
}

static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	struct world *world = self;
	uint64_t more = world->more;

	(void)file;
	assert_int_equal(sample->weight_ns, sample->ticks * 2);
	assert_int_equal(sample->count, depth_of(sample->ticks));
	for (uint32_t i = 0; i < sample->count; i++)
		assert_int_equal(sample->pcs[i], sample->ticks * 100 + i);
	if (world->with_labels)
		check_label(sample);
	else
		assert_int_equal(sample->label_bytes, 0);
	assert_true(world->read == 0 || sample->ticks > world->last);
	world->last = sample->ticks;
	if (world->read++ == 0)
		world->first = sample->ticks;
	world->more = 0;
	write_samples(world, sample->ticks + 10000, more);
	return 0;
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	(void)self;
	(void)file;
	(void)tid;
	(void)comm;
	(void)ended;
}

/* Reads all there is. Returns what is lost. */
static uint64_t drain(struct world *world)
{
	struct process_reader reader = {.sample = on_sample, .thread = on_thread, .self = world};

	assert_int_equal(process_file_drain(world->file, &reader), 0);
	return process_file_take_lost(world->file);
}

static void what_fits_is_read(void **state)
{
	struct world *world = *state;

	for (uint64_t round = 0; round < 300; round++) {
		world->with_labels = round % 3 == 1;
		write_samples(world, 1 + round * 20, 20);
		assert_int_equal(drain(world), 0);
		assert_int_equal(world->read, (round + 1) * 20);
	}
}

static void the_newest_are_kept_and_the_others_are_counted(void **state)
{
	struct world *world = *state;

	for (uint64_t round = 0; round < 10; round++) {
		uint64_t lost;

		world->read = 0;
		write_samples(world, 1 + round * 1000, 1000);
		lost = drain(world);
		assert_int_equal(lost + world->read, 1000);
		assert_int_equal(world->last, (round + 1) * 1000);
		assert_int_equal(world->first, world->last + 1 - world->read);
		assert_true(world->read * (SAMPLE_WORDS + DEPTH) > RING_WORDS * 8 / 10);
	}
}

static void labels_stay_with_their_samples(void **state)
{
	struct world *world = *state;
	uint64_t lost;

	world->with_labels = true;
	for (uint64_t count = 50; count < 1000; count++) {
		world->read = 0;
		write_samples(world, 1 + count * 1000, count);
		lost = drain(world);
		assert_int_equal(lost + world->read, count);
	}
}

static void what_is_overwritten_while_others_are_read_was_copied_before(void **state)
{
	struct world *world = *state;
	uint64_t lost;

	write_samples(world, 1, 50);
	world->more = 500;
	lost = drain(world);
	assert_int_equal(world->read, 50); /* though their places had gone meanwhile */
	lost += drain(world);
	assert_int_equal(lost + world->read, 550);
	assert_int_equal(world->last, 1 + 10000 + 499);
}

static void a_program_that_damages_its_ring_does_not_hang(void **state)
{
	struct world *world = *state;
	uint64_t lost;

	write_samples(world, 1, 500);
	memset(world->thread->ring, 0, RING_WORDS * 8);
	write_samples(world, 501, 500);
	lost = drain(world);
	assert_true(world->read > 10);
	assert_int_equal(world->last, 1000);
	assert_int_equal(lost + world->read, 1000);
	memset(world->thread->ring, 0, RING_WORDS * 8);
	write_samples(world, 1001, 1);
	memset(world->thread->ring, 0xff, RING_WORDS * 8);
	assert_true(drain(world) > 0);
}

/* What is between the oldest and the head then has no end. */
static void a_program_that_damages_its_slot_does_not_hang(void **state)
{
	struct world *world = *state;
	struct session_slot *slot = world->thread->slot;

	write_samples(world, 1, 500);
	(void)drain(world);
	atomic_store(&slot->oldest, atomic_load(&slot->head) + 5);
	write_samples(world, 501, 500);
	atomic_store(&slot->head, atomic_load(&slot->head) ^ 1ull << 40);
	write_samples(world, 1001, 500);
	(void)drain(world);
	write_samples(world, 1501, 10);
	(void)drain(world);
	assert_int_equal(world->last, 1510);
}

static void new_ones_are_dropped_where_that_is_wanted(void **state)
{
	struct world *world = *state;
	uint64_t lost;

	world->control.overwrite_old = 0;
	world->file->overwritten = false;
	write_samples(world, 1, 1000);
	lost = drain(world);
	assert_int_equal(world->first, 1);
	assert_in_range(world->last, world->read,
			world->read + DEPTH); /* a short one may fit yet */
	assert_int_equal(lost + world->read, 1000);
}

static void *flood(void *argument)
{
	write_samples(argument, 1, FLOOD);
	return NULL;
}

/* The writer never waits: nothing that is read is of two samples, and none is forgotten. */
static void a_reader_that_is_too_slow_reads_what_is_true(void **state)
{
	struct world *world = *state;
	struct session_slot *slot = world->thread->slot;
	pthread_t writer;
	uint64_t lost = 0;

	assert_int_equal(pthread_create(&writer, NULL, flood, world), 0);
	while (atomic_load(&slot->samples) < FLOOD)
		lost += drain(world);
	assert_int_equal(pthread_join(writer, NULL), 0);
	lost += drain(world);
	assert_int_equal(lost + world->read, FLOOD);
	assert_int_equal(world->last, FLOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_fits_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_newest_are_kept_and_the_others_are_counted,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(labels_stay_with_their_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_overwritten_while_others_are_read_was_copied_before, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_damages_its_ring_does_not_hang,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_damages_its_slot_does_not_hang,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(new_ones_are_dropped_where_that_is_wanted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_reader_that_is_too_slow_reads_what_is_true,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
