/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the file of a watched program with whatever comes: as it is, or behind a head
 * that makes sense, or hardly anything but the head would be looked at.
 *
 *	input := how:u8 file…            even: all of the file
 *	         how:u8 slot ring…       odd: one slot, and as much of its ring as there is
 *	                                 with 2: its oldest records are given up
 *	                                 with 4: a ring of 64 words, whose end is soon met
 *	                                 with 8: records of the heap are read, with 16: of a sample
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/signal/heap_ring.h"
#include "engine/signal/process_file.h"
#include "engine/signal/python_frames.h"
#include "engine/signal/tick_clock.h"
#include "engine/signal/user_events.h"
#include "model/entity.h"
#include "model/heap_event.h"
#include "model/sink.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RING_WORDS 1024u
#define SMALL_RING_WORDS 64u
#define RINGS_OFFSET 4096u
#define NAME "7.100.0"
#define NOBODY 5000000 /* above every pid_max: /proc knows nothing of it */

enum how {
	BEHIND_A_HEAD = 1,
	GIVES_UP_OLDEST = 2,
	SMALL_RING = 4,
	HEAP = 8,
	SAMPLED = 16,
};

/* What the sink was told, and who reads the records of the heap. */
struct reading {
	struct user_events *told;
	struct heap_rings *heap; /* NULL: nobody */
	uint32_t stacks;
	uint32_t threads;
};

static char folder[] = "/tmp/wick-fuzz-XXXXXX";
static char path[sizeof(folder) + sizeof(NAME) + 1];

static void clean_up(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void set_up(void)
{
	if (path[0])
		return;
	if (!mkdtemp(folder))
		abort();
	(void)snprintf(path, sizeof(path), "%s/" NAME, folder);
	(void)atexit(clean_up);
}

static void write_file(const uint8_t *data, size_t size)
{
	static uint8_t whole[RINGS_OFFSET + RING_WORDS * 8];
	struct session_process head = {
		.magic = SESSION_MAGIC,
		.version = SESSION_VERSION,
		.pid = 7,
		.slot_count = 1,
		.ring_words = data[0] & SMALL_RING ? SMALL_RING_WORDS : RING_WORDS,
		.slots_offset = sizeof(head),
		.rings_offset = RINGS_OFFSET,
		.rings = 1,
	};
	size_t slot = size < sizeof(struct session_slot) ? size : sizeof(struct session_slot);
	size_t ring = size - slot < RING_WORDS * 8 ? size - slot : RING_WORDS * 8;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(whole, 0, sizeof(whole));
	memcpy(whole, &head, sizeof(head));
	memcpy(whole + sizeof(head), data + 1, slot);
	memcpy(whole + RINGS_OFFSET, data + 1 + slot, ring);
	if (fd < 0 ||
	    (data[0] & BEHIND_A_HEAD ? write(fd, whole, sizeof(whole)) != (ssize_t)sizeof(whole)
				     : write(fd, data + 1, size) != (ssize_t)size))
		abort();
	(void)close(fd);
}

static int take_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	(void)self;
	*ret_id = (uint32_t)(strlen(schema->event) + strlen(schema->unit));
	return 0;
}

static int take_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	(void)self;
	*ret_id = 0;
	if (n > LABELS_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		*ret_id += (uint32_t)(strlen(labels[i].key) + strlen(labels[i].value));
	return 0;
}

static int take_module(void *self, const struct module *module, uint32_t *ret_id)
{
	(void)self;
	*ret_id = (uint32_t)strlen(module->path);
	return 0;
}

static int take_process(void *self, const struct process *process, uint32_t *ret_id)
{
	(void)self, (void)process;
	*ret_id = 0;
	return 0;
}

static int take_thread(void *self, const struct thread *thread, uint32_t *ret_id)
{
	struct reading *reading = self;

	(void)thread;
	*ret_id = reading->threads++;
	return 0;
}

static int take_map(void *self, const struct map_event *event, struct error *err)
{
	(void)self, (void)event, (void)err;
	return 0;
}

static int take_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id)
{
	struct reading *reading = self;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += frames[i].b;
	*ret_id = reading->stacks++ + (sum == 1 && n == 0);
	return 0;
}

/* What the rest of the program relies on. */
static int take_heap(void *self, const struct heap_batch *batch, struct error *err)
{
	const struct reading *reading = self;

	(void)err;
	if (batch->thread >= reading->threads)
		abort();
	for (size_t i = 0; i < batch->count; i++) {
		const struct heap_event *event = &batch->events[i];

		if (event->op >= HEAP_OPS || event->call >= HEAP_CALLS ||
		    (event->op == HEAP_ALLOC && event->stack >= reading->stacks) ||
		    (i > 0 && event->time_ns < event[-1].time_ns))
			abort();
	}
	return 0;
}

static int take_until(void *self, uint64_t time_ns, struct error *err)
{
	(void)self, (void)time_ns, (void)err;
	return 0;
}

/* Reads a sample to its last address and text. */
static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	const struct reading *reading = self;
	uint64_t sum = 0;

	(void)file;
	for (uint32_t i = 0; i < sample->count; i++)
		sum += sample->pcs[i];
	if (sample->texts)
		sum += user_events_schema(reading->told, sample);
	sum += user_events_labels(reading->told, sample, user_events_state(sample));
	return sum == UINT64_MAX && sample->count > 1024 ? 1 : 0;
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	(void)self, (void)file, (void)tid, (void)ended;
	if (strlen(comm) > 16)
		abort();
}

static int on_heap(void *self, struct process_file *file, struct heap_ring **ring, uint32_t tid,
		   struct process_words *words)
{
	const struct reading *reading = self;

	file->pid = NOBODY;
	return reading->heap ? heap_ring_read(reading->heap, ring, file, tid, words) : 0;
}

/* Reads the file, and again when it was cut while it is read. */
static void read_file(struct process_file *file, struct reading *reading, size_t size)
{
	/* The heap is never recorded into rings that give up their oldest records. */
	struct process_reader reader = {.sample = on_sample,
					.thread = on_thread,
					.heap = file->overwritten ? NULL : on_heap,
					.self = reading};

	if (process_file_drain(file, &reader) != 0 ||
	    (reading->heap && heap_rings_until(reading->heap, size) != 0))
		abort();
	(void)process_file_take_lost(file);
	if (reading->heap)
		heap_rings_forget(reading->heap);
	if (truncate(path, (off_t)(size % sizeof(struct session_process))) < 0 ||
	    process_file_drain(file, &reader) != 0 ||
	    (reading->heap && heap_rings_hand_on(reading->heap) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sink_ops ops = {
		.schema = take_schema,
		.module = take_module,
		.process = take_process,
		.thread = take_thread,
		.stack = take_stack,
		.labels = take_labels,
		.map = take_map,
		.heap = take_heap,
		.heap_until = take_until,
	};
	static const struct tick_clock clock = {.first = {1, 1}, .last = {2, 3}, .ns_per_tick = 2};
	struct reading reading = {0};
	struct sink sink = {&ops, &reading};
	struct process_file *file;

	if (size < 2)
		return 0;
	set_up();
	write_file(data, size - 1);
	if (process_file_open(folder, NAME, &file) == 0) {
		struct process_tracker *tracker = process_tracker_new(&sink);
		struct raw_stacks *stacks = raw_stacks_new(&sink, tracker);
		struct python_frames python = {.tracker = tracker,
					       .interpreters = interpreters_new()};

		process_tracker_set_offline(tracker);
		file->overwritten = (data[0] & GIVES_UP_OLDEST) != 0;
		reading.told = user_events_new(&sink);
		if (data[0] & HEAP)
			reading.heap = heap_rings_new(&sink, &python, stacks, &clock,
						      data[0] & SAMPLED ? 524288 : 0);
		if (!reading.told || !stacks || (data[0] & HEAP && !reading.heap))
			abort();
		read_file(file, &reading, size);
		heap_rings_free(reading.heap);
		user_events_free(reading.told);
		raw_stacks_free(stacks);
		interpreters_free(python.interpreters);
		process_tracker_free(tracker);
		process_file_close(file);
	}
	return 0;
}
