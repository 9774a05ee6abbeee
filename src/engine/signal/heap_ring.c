/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/heap_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "engine/signal/process_file.h"
#include "engine/signal/python_frames.h"
#include "engine/signal/tick_clock.h"
#include "model/heap_event.h"
#include "model/sink.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"
#include "wire/heap_record.h"

#define BATCH_EVENTS 512u /* small enough to stay in the cache until it is passed on */
#define MAX_DEPTH 4096u
#define STACK_WORDS (sizeof(struct session_stack) / 8)

_Static_assert((int)SESSION_REALLOC == (int)HEAP_REALLOC && (int)SESSION_POOL == (int)HEAP_POOL &&
		       (int)SESSION_CALLS == (int)HEAP_CALLS,
	       "calls are the same on both sides");

/* A stack numbered by a thread. */
struct numbered {
	uint32_t id;    /* of the sink */
	uint32_t round; /* round of heap_rings in which the id is valid */
	uint64_t first; /* in pcs */
	uint32_t count;
	uint8_t end; /* enum unwind_end */
};

struct heap_ring {
	VEC(struct numbered) numbers;
	VEC(uint64_t) pcs;
	uint64_t last_ns; /* of the last event: times never go back, even if the clock is corrected
			   */
};

struct heap_rings {
	struct sink *sink;
	uint64_t sample_bytes; /* 0: all blocks are recorded */
	struct process_tracker *tracker;
	struct raw_stacks *stacks;
	const struct python_frames *python;
	const struct tick_clock *clock;
	uint32_t round;
	uint64_t events;
	uint32_t rates; /* sampling rate records in the batch, which are not allocations */
	uint64_t damaged;
	/* Of the thread being read: */
	pid_t pid;
	uint32_t tid;
	uint32_t thread;
	size_t count;
	struct heap_event batch[BATCH_EVENTS];
};

struct heap_rings *heap_rings_new(struct sink *sink, const struct python_frames *python,
				  struct raw_stacks *stacks, const struct tick_clock *clock,
				  uint64_t sample_bytes)
{
	struct heap_rings *rings = calloc(1, sizeof(*rings));

	if (!rings)
		return NULL;
	rings->sink = sink;
	rings->tracker = python->tracker;
	rings->stacks = stacks;
	rings->python = python;
	rings->clock = clock;
	rings->sample_bytes = sample_bytes;
	return rings;
}

void heap_rings_free(struct heap_rings *rings)
{
	free(rings);
}

void heap_ring_reset(struct heap_ring *ring)
{
	if (!ring)
		return;
	ring->numbers.count = 0;
	ring->pcs.count = 0;
	ring->last_ns = 0;
}

void heap_ring_free(struct heap_ring *ring)
{
	if (!ring)
		return;
	vec_fini(&ring->numbers);
	vec_fini(&ring->pcs);
	free(ring);
}

/* The previous stack; NULL: the next one is the first, because numbers may restart. */
static const struct numbered *begin_stack(struct heap_ring *ring, bool anew)
{
	if (anew)
		ring->numbers.count = ring->pcs.count = 0;
	return ring->numbers.count > 0 ? &ring->numbers.items[ring->numbers.count - 1] : NULL;
}

/* Adds the frames of a stack: its own, and the last ones of the previous stack. */
static int add_stack(struct heap_rings *rings, struct heap_ring *ring,
		     const struct session_stack *stack, uint32_t words)
{
	bool whole = words >= STACK_WORDS; /* else the ring may end after its first word */
	uint32_t kept = whole ? stack->kept : 0;
	uint32_t fresh = whole ? stack->fresh : 0;
	const struct numbered *last = begin_stack(ring, whole && stack->number == 0);
	struct numbered numbered = {.first = ring->pcs.count,
				    .count = fresh + kept,
				    .end = stack->record.flags & SESSION_END_MASK,
				    .round = rings->round - 1};

	if (!whole || words - STACK_WORDS != fresh || kept > (last ? last->count : 0) ||
	    stack->number != ring->numbers.count || stack->number >= SESSION_STACK_NUMBERS ||
	    numbered.count > MAX_DEPTH || numbered.end >= UNWIND_ENDS ||
	    numbered.end < UNWIND_ROOT) {
		rings->damaged++;
		return 0;
	}
	if (vec_reserve(&ring->pcs, ring->pcs.count + numbered.count) < 0 ||
	    vec_push(&ring->numbers, numbered) < 0)
		return -ENOMEM;
	memcpy(ring->pcs.items + numbered.first, stack->pcs, fresh * sizeof(uint64_t));
	if (kept > 0) {
		const struct numbered *before = &ring->numbers.items[ring->numbers.count - 2];

		memcpy(ring->pcs.items + numbered.first + fresh,
		       ring->pcs.items + before->first + before->count - kept,
		       kept * sizeof(uint64_t));
	}
	ring->pcs.count += numbered.count;
	return 0;
}

/* The sink's id for a stack of a thread. */
static uint32_t stack_id(struct heap_rings *rings, struct heap_ring *ring, uint32_t number,
			 uint64_t time_ns)
{
	struct tracked_process *process;
	struct numbered *numbered;
	struct raw_stack raw;

	if (number >= ring->numbers.count)
		return ID_NONE;
	numbered = &ring->numbers.items[number];
	if (numbered->round == rings->round)
		return numbered->id;
	process = process_tracker_find(rings->tracker, rings->pid);
	if (!process)
		return ID_NONE;
	raw = (struct raw_stack){.pid = rings->pid,
				 .time_ns = time_ns,
				 .pcs = ring->pcs.items + numbered->first,
				 .count = numbered->count,
				 .end = numbered->end};
	(void)python_frames_split(rings->python, &raw); /* else with its native frames */
	numbered->id = raw_stacks_id(rings->stacks, process, &raw);
	numbered->round = rings->round;
	return numbered->id;
}

int heap_rings_hand_on(struct heap_rings *rings)
{
	struct heap_batch batch = {rings->thread, rings->count, rings->batch};

	if (rings->count == 0)
		return 0;
	rings->events += rings->count - rings->rates;
	rings->count = 0;
	rings->rates = 0;
	return sink_heap(rings->sink, &batch, NULL);
}

/* Switches to the events of a thread. */
static int turn_to(struct heap_rings *rings, pid_t pid, uint32_t tid)
{
	struct tracked_process *process;
	int r = heap_rings_hand_on(rings);

	if (r < 0)
		return r;
	r = process_tracker_sample(rings->tracker, pid, (pid_t)tid, &process, &rings->thread);
	rings->pid = pid;
	rings->tid = r < 0 ? 0 : tid;
	return r < 0 ? -ENOMEM : 0;
}

/* Reports the sampling rate before a thread's first event. */
static int add_rate(struct heap_rings *rings, uint64_t time_ns)
{
	rings->batch[rings->count] = (struct heap_event){
		.size = rings->sample_bytes, .time_ns = time_ns, .stack = ID_NONE, .op = HEAP_RATE};
	rings->rates++;
	return ++rings->count == BATCH_EVENTS ? heap_rings_hand_on(rings) : 0;
}

static inline int add_event(struct heap_rings *rings, struct heap_ring *ring,
			    const struct session_heap *record)
{
	uint32_t kind = record->head & 0xff;
	uint32_t call = record->head >> 8 & 0xff & ~(SESSION_STACKED | SESSION_AT_ONCE);
	bool at_once = record->head >> 8 & SESSION_AT_ONCE;
	bool stacked = record->head >> 8 & SESSION_STACKED &&
		       (kind == SESSION_FREE || kind == SESSION_MOVE);
	uint64_t time_ns = tick_clock_ns(rings->clock, record->ticks);
	struct heap_event *event;

	if (rings->sample_bytes > 0 && ring->last_ns == 0) {
		int r = add_rate(rings, time_ns);

		if (r < 0)
			return r;
	}
	if (time_ns < ring->last_ns)
		time_ns = ring->last_ns;
	ring->last_ns = time_ns;
	event = &rings->batch[rings->count];
	*event = (struct heap_event){
		.address = record->head >> 16,
		.time_ns = time_ns,
		.stack = ID_NONE,
		.op = (uint8_t)(kind == SESSION_RATE    ? HEAP_RATE
				: kind == SESSION_TOTAL ? HEAP_TOTAL
							: HEAP_ALLOC + (kind - SESSION_ALLOC)),
		.call = (uint8_t)(call < HEAP_CALLS ? call : HEAP_MALLOC),
	};
	if (kind == SESSION_FREE && at_once)
		event->slack = HEAP_FREE_AT_ONCE;
	if (kind == SESSION_RATE) {
		event->address = 0;
		event->size = record->size < UINT64_MAX ? record->size : 0;
		rings->rates++;
	}
	if (kind == SESSION_ALLOC || kind == SESSION_TOTAL) {
		event->size = record->size;
		event->slack = record->slack;
		event->cpu = record->cpu;
		event->stack = stack_id(rings, ring, record->stack, time_ns);
		if (event->stack == ID_NONE) {
			rings->damaged++;
			return 0;
		}
	} else if (stacked) { /* without a stack it is still a free */
		event->stack = stack_id(rings, ring, (uint32_t)record->size, time_ns);
	}
	return ++rings->count == BATCH_EVENTS ? heap_rings_hand_on(rings) : 0;
}

_Static_assert(SESSION_FREE - SESSION_ALLOC == HEAP_FREE &&
		       SESSION_MOVE - SESSION_ALLOC == HEAP_MOVE &&
		       SESSION_KEPT - SESSION_ALLOC == HEAP_KEPT,
	       "kinds are in the order of ops");

/* Creates the ring of a thread and starts collecting its events. */
static int begin_reading(struct heap_rings *rings, struct heap_ring **ring,
			 const struct process_file *file, uint32_t tid)
{
	if (!*ring)
		*ring = calloc(1, sizeof(**ring));
	if (!*ring)
		return -ENOMEM;
	return tid != rings->tid || file->pid != rings->pid ? turn_to(rings, file->pid, tid) : 0;
}

int heap_ring_read(struct heap_rings *rings, struct heap_ring **ring,
		   const struct process_file *file, uint32_t tid, struct process_words *words)
{
	uint64_t at = 0;
	int r = begin_reading(rings, ring, file, tid);

	while (r == 0 && at < words->count) {
		const struct session_record *record =
			(const struct session_record *)(words->words + at);
		uint32_t kind = session_kind(record);
		uint32_t length = session_words(record);

		if (!session_is_heap(kind) || length > words->count - at ||
		    length < (kind == SESSION_STACK ? STACK_WORDS : 1))
			break;
		if (kind == SESSION_STACK)
			r = add_stack(rings, *ring, (const struct session_stack *)record, length);
		else
			r = add_event(rings, *ring, (const struct session_heap *)record);
		at += length;
	}
	words->read = at;
	return r;
}

int heap_rings_until(struct heap_rings *rings, uint64_t time_ns)
{
	int r = heap_rings_hand_on(rings);

	rings->tid = 0; /* ids of threads may change */
	return r < 0 ? r : sink_heap_until(rings->sink, time_ns, NULL);
}

void heap_rings_forget(struct heap_rings *rings)
{
	rings->round++;
}

uint64_t heap_rings_events(const struct heap_rings *rings)
{
	return rings->events;
}

uint64_t heap_rings_damaged(const struct heap_rings *rings)
{
	return rings->damaged;
}
