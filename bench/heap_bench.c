/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Measures recordings of heap events: what a byte and a nanosecond of CPU time an event
 * are spent on. Events are made up, by a small allocator that hands out last what was
 * freed last, as others do:
 *
 *	script	one thread that runs statements of a database: each makes the same
 *		calls with almost the same sizes
 *	storm	two threads that allocate and free at random: any stack, any size
 *
 *	heap_bench FILE [EVENTS]
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/number.h"
#include "base/vec.h"
#include "model/heap_event.h"
#include "model/sink.h"
#include "recording/reader.h"
#include "recording/writer.h"

#define BATCH 4096u /* what is drained of a thread at once */
#define CLASSES 1024u
#define THREADS 2u
#define ROWS 100u /* of a statement */
#define ROUNDS 5

struct arena {
	uint64_t next;
	VEC(uint64_t) freed[CLASSES];
};

struct load {
	const char *name;
	uint32_t stacks;
	uint32_t threads;
	uint32_t step_ns; /* between two events of a thread, at most */
	bool is_storm;
};

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 11;
}

static void check(int r, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "heap_bench: %s\n", err ? err->text : "out of memory");
	exit(1);
}

static void *allocate(size_t count, size_t bytes)
{
	void *place = calloc(count, bytes);

	check(place ? 0 : -1, NULL);
	return place;
}

static uint32_t class_of(uint64_t size)
{
	uint64_t class = (size + 23) / 16;

	return class < 2 ? 2 : class < CLASSES ? (uint32_t) class : CLASSES - 1;
}

static struct heap_event take(struct arena *arena, uint32_t stack, uint64_t size)
{
	uint32_t class = class_of(size);
	struct heap_event event = {
		.size = size, .slack = (uint32_t)(class * 16 - 8 - size), .stack = stack};

	if (arena->freed[class].count > 0) {
		event.address = arena->freed[class].items[--arena->freed[class].count];
	} else {
		event.address = arena->next;
		arena->next += class * 16u;
	}
	return event;
}

static struct heap_event give(struct arena *arena, const struct heap_event *block)
{
	check(vec_push(&arena->freed[class_of(block->size)], block->address), NULL);
	return (struct heap_event){.address = block->address, .stack = ID_NONE, .op = HEAP_FREE};
}

/*
 * Statements of some kinds, each for many rows; a row takes some blocks and gives them
 * back.
 */
static size_t make_row(struct arena *arena, const struct load *load, uint32_t kind,
		       struct heap_event *events)
{
	uint32_t blocks = 8 + kind;
	struct heap_event *live[32];
	size_t n = 0;

	for (uint32_t i = 0; i < blocks; i++) {
		uint64_t size = 24 + (kind * 8 + i) % 13 * 40 + (i == 3 ? next_random() % 32 : 0);

		live[i] = &events[n];
		events[n++] = take(arena, (kind * 31 + i) % load->stacks, size);
		if (i % 3 == 2) {
			events[n] = give(arena, live[i - 1]);
			n++;
		}
	}
	for (uint32_t i = blocks; i-- > 0;)
		if (i % 3 != 1 || i + 1 == blocks)
			events[n++] = give(arena, live[i]);
	return n;
}

static size_t make_pair(struct arena *arena, const struct load *load, struct heap_event *events)
{
	events[0] = take(arena, (uint32_t)(next_random() % load->stacks), 1 + next_random() % 1000);
	events[1] = give(arena, &events[0]);
	return 2;
}

/* Makes the events of all threads, in batches one after the other; returns how many. */
static size_t make_events(const struct load *load, size_t count, struct heap_event *events)
{
	struct arena *arenas = allocate(THREADS, sizeof(*arenas));
	uint64_t time_ns[THREADS] = {1000000000, 1000000000};
	uint32_t kind = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		arenas[i].next = 0x7f0000000010 + i * 0x4000000000ull;
	while (n + BATCH <= count) {
		uint32_t thread = (uint32_t)(n / BATCH % load->threads);
		struct heap_event some[128];
		size_t end = n + BATCH;

		while (n < end) {
			size_t made = load->is_storm ? make_pair(&arenas[thread], load, some)
						     : make_row(&arenas[thread], load, kind, some);

			if (next_random() % ROWS == 0)
				kind = (uint32_t)(next_random() % 16);
			for (size_t i = 0; i < made && n < end; i++) {
				time_ns[thread] += next_random() % load->step_ns;
				some[i].time_ns = time_ns[thread];
				some[i].cpu = (uint16_t)thread;
				events[n++] = some[i];
			}
		}
	}
	for (uint32_t i = 0; i < THREADS; i++)
		for (uint32_t k = 0; k < CLASSES; k++)
			vec_fini(&arenas[i].freed[k]);
	free(arenas);
	return n;
}

static double cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* the clock is always there */
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Names what events refer to, and gives them the ids of that. */
static void name_things(struct sink *sink, const struct load *load, uint32_t *threads,
			uint32_t *stacks)
{
	uint32_t process;

	check(sink_process(sink, &(struct process){.pid = 1, .comm = "bench"}, &process), NULL);
	for (uint32_t i = 0; i < THREADS; i++)
		check(sink_thread(sink, &(struct thread){process, i + 1, "bench"}, &threads[i]),
		      NULL);
	for (uint32_t i = 0; i < load->stacks; i++) {
		struct frame frames[] = {{FRAME_NATIVE, MODULE_NONE, 0x1000},
					 {FRAME_NATIVE, MODULE_NONE, 0x2000 + i / 16 * 16},
					 {FRAME_NATIVE, MODULE_NONE, 0x100000 + i * 4}};

		check(sink_stack(sink, frames, 3, &stacks[i]), NULL);
	}
}

/* Returns the CPU time; events come from a small place, as from a ring. */
static double write_all(const char *path, const struct load *load, const struct heap_event *events,
			size_t n, uint64_t *ret_bytes)
{
	static struct heap_event ring[BATCH];
	struct recording_writer *writer;
	struct error err = {0};
	uint32_t *stacks = allocate(load->stacks, sizeof(*stacks));
	uint32_t threads[THREADS];
	struct sink *sink;
	double spent_ns = 0;
	double start_ns;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	check(fd < 0 ? -1 : recording_writer_open(fd, path, &writer, &err), &err);
	sink = recording_writer_sink(writer);
	name_things(sink, load, threads, stacks);
	for (size_t i = 0; i < n; i += BATCH) {
		struct heap_batch batch = {threads[i / BATCH % load->threads], BATCH, ring};

		memcpy(ring, events + i, sizeof(ring));
		for (size_t k = 0; k < BATCH; k++)
			if (ring[k].stack != ID_NONE)
				ring[k].stack = stacks[ring[k].stack];
		start_ns = cpu_ns();
		check(sink_heap(sink, &batch, &err), &err);
		check(sink_heap_until(sink, ring[0].time_ns, &err), &err);
		spent_ns += cpu_ns() - start_ns;
	}
	start_ns = cpu_ns();
	check(recording_writer_finish(writer, &err), &err);
	spent_ns += cpu_ns() - start_ns;
	*ret_bytes = recording_writer_bytes(writer);
	recording_writer_free(writer);
	free(stacks);
	return spent_ns;
}

static int add_up(void *self, const struct heap_batch *batch)
{
	uint64_t *sum = self;

	for (size_t i = 0; i < batch->count; i++)
		*sum += batch->events[i].size + batch->events[i].address;
	return 0;
}

static double read_all(const char *path, const struct heap_event *events, size_t n)
{
	uint64_t sum = 0;
	struct recording_visitor visitor = {.self = &sum, .heap = add_up};
	struct recording_reader *reader;
	struct error err = {0};
	double start_ns = cpu_ns();
	double spent_ns;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd < 0 ? -1 : recording_reader_open(fd, path, &reader, &err), &err);
	check(recording_reader_run(reader, &visitor, &err), &err);
	spent_ns = cpu_ns() - start_ns;
	for (size_t i = 0; i < n; i++)
		sum -= events[i].size + events[i].address;
	check(sum == 0 && recording_reader_damage(reader).heap_events == n
		      ? 0
		      : error_set(&err, -1, "events are missing"),
	      &err);
	recording_reader_free(reader);
	return spent_ns;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *path, const struct load *load, size_t count)
{
	struct heap_event *events = allocate(count + 1, sizeof(*events));
	size_t n = make_events(load, count, events);
	double written[ROUNDS];
	double read[ROUNDS];
	uint64_t bytes = 0;

	for (int i = 0; i < ROUNDS; i++) {
		written[i] = write_all(path, load, events, n, &bytes);
		read[i] = read_all(path, events, n);
	}
	qsort(written, ROUNDS, sizeof(double), compare);
	qsort(read, ROUNDS, sizeof(double), compare);
	printf("{\"name\": \"%s\", \"events\": %zu, \"bytes\": %.3f, \"write_ns\": %.1f, "
	       "\"read_ns\": %.1f}\n",
	       load->name, n, (double)bytes / (double)n, written[ROUNDS / 2] / (double)n,
	       read[ROUNDS / 2] / (double)n);
	free(events);
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{"script", 600, 1, 500, false},
		{"storm, 64 stacks", 64, 2, 120, true},
		{"storm, 40,000 stacks", 40000, 2, 120, true},
	};
	uint64_t n = 5300000;

	if (argc < 2 || (argc > 2 && number_parse_u64(argv[2], &n) < 0)) {
		(void)fprintf(stderr, "usage: heap_bench FILE [EVENTS]\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		measure(argv[1], &loads[i], n);
	return 0;
}
