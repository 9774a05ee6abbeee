/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/sample_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/vec.h"
#include "engine/engine_stats.h"
#include "engine/perf/ring.h"
#include "engine/python_calls.h"
#include "language/language.h"
#include "perf_records/perf_record.h"
#include "proc/maps.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/registers.h"
#include "process_stacks/thread_names.h"
#include "unwind/arch/native.h"
#include "unwind/python_walk.h"

#define LOCK_NS (50 * NS_PER_US) /* that a reader waits: the thread runs on meanwhile */
#define LATE_NS NS_PER_MS        /* a thread that runs has long moved on */
#define THREADS 1024u            /* whose thread pointer is remembered */
#define TRIES 32u                /* to find that of a thread; later one sample in this many */
#define QUEUE_MAX 65536u         /* samples that wait for a drain */
#define WORDS_MAX (UNWIND_REGISTERS + RING_RECORD_MAX / 8)
#define DEPTH_MAX 1024u

struct seen_process {
	pid_t pid;
	uint32_t number;
	struct interpreter *interpreter; /* NULL: none */
};

struct seen_thread {
	pid_t tid;
	uint32_t tries;
	uint64_t thread_pointer; /* 0: unknown */
};

struct call_queue {
	VEC(struct read_calls) samples; /* their words are offsets until they are collected */
	VEC(uint64_t) words;
	size_t next;
};

struct ring_calls {
	struct call_queue fresh;     /* of the reader */
	struct call_queue collected; /* of the engine */
	uint64_t sample[WORDS_MAX];  /* of the reader */
	uint64_t words[DEPTH_MAX];
};

struct sample_calls {
	pthread_mutex_t lock;
	struct interpreters *interpreters;
	struct thread_names *names;
	VEC(struct seen_process) processes;
	struct seen_thread threads[THREADS];
	uint64_t register_mask;
	uint32_t depth;
	size_t ring_count;
	struct ring_calls **rings;
	const char *why_not; /* calls are not read; NULL: they are */
	/* Of reads, for the log and for what they cost: */
	uint64_t reads;
	uint64_t late;
	uint64_t changed; /* the thread had run on */
	uint64_t delay_ns;
	uint64_t cost_ns;
};

static void free_ring(struct ring_calls *ring)
{
	if (!ring)
		return;
	vec_fini(&ring->fresh.samples);
	vec_fini(&ring->fresh.words);
	vec_fini(&ring->collected.samples);
	vec_fini(&ring->collected.words);
	free(ring);
}

/* A reader may run before everybody else: who holds the lock then inherits that. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	(void)pthread_mutexattr_init(&attributes);
	(void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(lock, &attributes);
	(void)pthread_mutexattr_destroy(&attributes);
}

struct sample_calls *sample_calls_new(size_t rings, uint64_t register_mask, uint32_t depth,
				      const char *why_not)
{
	struct sample_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	init_lock(&calls->lock);
	calls->register_mask = register_mask;
	calls->why_not = why_not;
	calls->depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
	calls->interpreters = interpreters_new();
	calls->rings = calloc(rings, sizeof(struct ring_calls *));
	for (; calls->rings && calls->ring_count < rings; calls->ring_count++) {
		calls->rings[calls->ring_count] = calloc(1, sizeof(struct ring_calls));
		if (!calls->rings[calls->ring_count])
			break;
	}
	if (calls->interpreters && calls->rings && calls->ring_count == rings)
		return calls;
	sample_calls_free(calls);
	return NULL;
}

void sample_calls_name_threads(struct sample_calls *calls, struct process_tracker *tracker)
{
	calls->names = thread_names_new(tracker, calls->interpreters, false);
}

static double mean_us(uint64_t sum_ns, uint64_t count)
{
	return count > 0 ? (double)sum_ns / (double)NS_PER_US / (double)count : 0;
}

void sample_calls_free(struct sample_calls *calls)
{
	if (!calls)
		return;
	log_debug("calls of %llu samples were read, %.1f us after them in %.1f us; %llu were late, "
		  "%llu had changed",
		  (unsigned long long)calls->reads, mean_us(calls->delay_ns, calls->reads),
		  mean_us(calls->cost_ns, calls->reads), (unsigned long long)calls->late,
		  (unsigned long long)calls->changed);
	for (size_t i = 0; i < calls->ring_count; i++)
		free_ring(calls->rings[i]);
	free(calls->rings);
	vec_fini(&calls->processes);
	thread_names_free(calls->names);
	interpreters_free(calls->interpreters);
	(void)pthread_mutex_destroy(&calls->lock);
	free(calls);
}

/* False if somebody else has the lock for too long. */
static bool lock_soon(struct sample_calls *calls)
{
	uint64_t until_ns = clock_monotonic_ns() + LOCK_NS;

	while (pthread_mutex_trylock(&calls->lock) != 0)
		if (clock_monotonic_ns() > until_ns)
			return false;
	return true;
}

static struct seen_process *find(struct sample_calls *calls, pid_t pid)
{
	for (size_t i = calls->processes.count; i-- > 0;)
		if (calls->processes.items[i].pid == pid)
			return &calls->processes.items[i];
	return NULL;
}

static struct seen_thread *thread_of(struct sample_calls *calls, pid_t tid)
{
	struct seen_thread *thread = &calls->threads[(uint32_t)tid % THREADS];

	if (thread->tid != tid)
		*thread = (struct seen_thread){.tid = tid};
	return thread;
}

/* Registers and stack of a sample as one list of words. */
static bool read_words(const struct sample_calls *calls, struct ring_calls *ring,
		       const struct sample_record *sample, struct language_sample *ret)
{
	struct registers registers;
	size_t stack_words = sample->stack_bytes / sizeof(uint64_t);

	if (!sample->registers || sample->is_32_bit ||
	    registers_of_sample(calls->register_mask, sample->registers, &registers) < 0 ||
	    UNWIND_REGISTERS + stack_words > ARRAY_SIZE(ring->sample))
		return false;
	memcpy(ring->sample, registers.values, sizeof(registers.values));
	memcpy(ring->sample + UNWIND_REGISTERS, sample->stack, stack_words * sizeof(uint64_t));
	*ret = (struct language_sample){.words = ring->sample,
					.count = UNWIND_REGISTERS + stack_words,
					.pc = registers.pc,
					.sp = registers.values[UNWIND_NATIVE.sp_register],
					.stack = ring->sample + UNWIND_REGISTERS,
					.stack_bytes = stack_words * sizeof(uint64_t)};
	return true;
}

static void put(struct call_queue *queue, const struct read_calls *calls)
{
	struct read_calls put = *calls;
	size_t first = queue->words.count;

	if (queue->samples.count >= QUEUE_MAX ||
	    vec_reserve(&queue->words, first + calls->count) < 0)
		return;
	put.words = NULL;
	if (calls->count > 0)
		memcpy(queue->words.items + first, calls->words, calls->count * sizeof(uint64_t));
	if (vec_push(&queue->samples, put) == 0)
		queue->words.count += calls->count;
}

/* Whether to look for the thread pointer of a thread, which may run no Python. */
static bool may_try(struct seen_thread *thread)
{
	return thread->thread_pointer != 0 || thread->tries++ < TRIES || thread->tries % TRIES == 0;
}

/* Reads the calls of a thread into ring->words. Returns their number; 0: they are unknown. */
static uint32_t walk(struct sample_calls *calls, struct ring_calls *ring,
		     const struct seen_process *process, const struct sample_record *sample)
{
	struct seen_thread *thread = thread_of(calls, sample->tid);
	struct language_calls read = {.thread_pointer = thread->thread_pointer,
				      .words = ring->words,
				      .capacity = calls->depth};
	struct language_sample words;

	if (!may_try(thread) || !read_words(calls, ring, sample, &words))
		return 0;
	(void)interpreter_walk_sampled(process->interpreter, sample->tid, &words, &read);
	thread->thread_pointer = read.thread_pointer;
	calls->changed += read.is_changed;
	return read.count;
}

/* Reads the calls of a process with an interpreter; the lock is held. */
static void read_calls(struct sample_calls *calls, struct ring_calls *ring,
		       const struct seen_process *process, uint64_t position,
		       const struct sample_record *sample)
{
	struct read_calls read = {
		.position = position, .number = process->number, .words = ring->words};
	uint64_t begin_ns = clock_monotonic_ns();

	if (begin_ns < sample->time_ns + LATE_NS) {
		read.count = walk(calls, ring, process, sample);
		calls->reads++;
		calls->delay_ns += begin_ns - sample->time_ns;
		calls->cost_ns += clock_monotonic_ns() - begin_ns;
	} else {
		calls->late++;
	}
	read.generation = interpreter_generation(process->interpreter);
	put(&ring->fresh, &read);
}

bool sample_calls_read(struct sample_calls *calls, size_t ring, uint64_t position,
		       const struct sample_record *sample)
{
	const struct seen_process *process;

	if (!lock_soon(calls))
		return true;
	process = find(calls, sample->pid);
	if (process && process->interpreter)
		read_calls(calls, calls->rings[ring], process, position, sample);
	(void)pthread_mutex_unlock(&calls->lock);
	return process != NULL;
}

/*
 * Looks for an interpreter. That takes milliseconds, and readers do not use what it changes: they
 * only use processes that are in the list.
 */
static void look(struct sample_calls *calls, const struct tracked_process *process)
{
	struct seen_process found = {.pid = tracked_process_pid(process),
				     .number = tracked_process_number(process)};
	struct seen_process *seen;

	found.interpreter = interpreters_look(calls->interpreters, found.number, found.pid);
	/* One without a layout cannot be read this way, and is counted. */
	if (found.interpreter && !interpreters_layout(calls->interpreters, found.number))
		found.interpreter = NULL;
	sample_calls_lock(calls);
	seen = find(calls, found.pid);
	if (seen)
		*seen = found;
	else
		(void)vec_push(&calls->processes, found); /* else it is looked for again */
	sample_calls_unlock(calls);
}

bool sample_calls_meet(struct sample_calls *calls, const struct tracked_process *process)
{
	const struct seen_process *seen;

	if (!calls || !process)
		return false;
	seen = find(calls, tracked_process_pid(process));
	if (!seen) {
		look(calls, process);
		seen = find(calls, tracked_process_pid(process));
	}
	return seen && seen->interpreter && !calls->why_not;
}

void sample_calls_map(struct sample_calls *calls, const struct tracked_process *process,
		      const struct map_region *region)
{
	const struct seen_process *seen;

	/* Looking reads the whole map: not for everything that is mapped. */
	if (!calls || !process || !(region->protection & REGION_EXEC) ||
	    !strstr(path_base_name(region->path), "python"))
		return;
	seen = find(calls, tracked_process_pid(process));
	if (!seen || !seen->interpreter)
		look(calls, process);
}

void sample_calls_fork(struct sample_calls *calls, const struct tracked_process *child,
		       const struct tracked_process *parent)
{
	const struct seen_process *of_parent;
	struct seen_process found;

	if (!calls || !child || !parent)
		return;
	sample_calls_lock(calls);
	of_parent = find(calls, tracked_process_pid(parent));
	if (of_parent && of_parent->interpreter && !find(calls, tracked_process_pid(child))) {
		found = (struct seen_process){.pid = tracked_process_pid(child),
					      .number = tracked_process_number(child)};
		interpreters_fork(calls->interpreters, found.number, of_parent->number);
		found.interpreter = interpreters_of(calls->interpreters, found.number);
		if (found.interpreter)
			(void)vec_push(&calls->processes, found); /* else it is looked for */
	}
	sample_calls_unlock(calls);
}

void sample_calls_forget(struct sample_calls *calls, pid_t pid)
{
	struct seen_process *seen;

	if (!calls)
		return;
	sample_calls_lock(calls);
	seen = find(calls, pid);
	if (seen) {
		interpreters_forget(calls->interpreters, seen->number);
		*seen = calls->processes.items[--calls->processes.count];
	}
	sample_calls_unlock(calls);
}

void sample_calls_forget_thread(struct sample_calls *calls, pid_t tid)
{
	if (!calls)
		return;
	sample_calls_lock(calls);
	if (calls->threads[(uint32_t)tid % THREADS].tid == tid)
		calls->threads[(uint32_t)tid % THREADS] = (struct seen_thread){0};
	sample_calls_unlock(calls);
}

/* Appends what a reader has read to what the engine has not taken yet; the lock is held. */
static void collect(struct ring_calls *ring)
{
	struct call_queue *from = &ring->fresh;
	struct call_queue *to = &ring->collected;

	if (to->next == to->samples.count)
		to->next = to->samples.count = to->words.count = 0;
	if (vec_reserve(&to->words, to->words.count + from->words.count) == 0 &&
	    vec_reserve(&to->samples, to->samples.count + from->samples.count) == 0 &&
	    from->samples.count > 0) {
		memcpy(to->samples.items + to->samples.count, from->samples.items,
		       from->samples.count * sizeof(*from->samples.items));
		if (from->words.count > 0)
			memcpy(to->words.items + to->words.count, from->words.items,
			       from->words.count * sizeof(uint64_t));
		to->samples.count += from->samples.count;
		to->words.count += from->words.count;
	}
	from->samples.count = from->words.count = 0;
}

/* Where the words of each sample are, now that their place does not change. */
static void place_words(struct call_queue *queue)
{
	const uint64_t *end = queue->words.items + queue->words.count;

	for (size_t i = queue->samples.count; i-- > 0;) {
		end -= queue->samples.items[i].count;
		queue->samples.items[i].words = end;
	}
}

void sample_calls_collect(struct sample_calls *calls)
{
	if (!calls)
		return;
	sample_calls_lock(calls);
	for (size_t i = 0; i < calls->ring_count; i++)
		collect(calls->rings[i]);
	sample_calls_unlock(calls);
	for (size_t i = 0; i < calls->ring_count; i++)
		if (calls->rings[i]->collected.samples.count > 0)
			place_words(&calls->rings[i]->collected);
}

const struct read_calls *sample_calls_take(struct sample_calls *calls, size_t ring,
					   uint64_t position)
{
	struct call_queue *queue = &calls->rings[ring]->collected;

	while (queue->next < queue->samples.count &&
	       queue->samples.items[queue->next].position < position)
		queue->next++;
	return queue->next < queue->samples.count &&
			       queue->samples.items[queue->next].position == position
		       ? &queue->samples.items[queue->next++]
		       : NULL;
}

void sample_calls_lock(struct sample_calls *calls)
{
	(void)pthread_mutex_lock(&calls->lock);
}

void sample_calls_unlock(struct sample_calls *calls)
{
	(void)pthread_mutex_unlock(&calls->lock);
}

struct interpreters *sample_calls_interpreters(struct sample_calls *calls)
{
	return calls->interpreters;
}

bool sample_calls_wanted(const struct sample_calls *calls)
{
	return !calls->why_not && interpreters_counts(calls->interpreters)->found > 0;
}

uint64_t sample_calls_cost_ns(const struct sample_calls *calls)
{
	return calls ? calls->cost_ns : 0;
}

void sample_calls_stats(struct sample_calls *calls, struct engine_python_stats *ret)
{
	struct engine_python_stats found;

	if (!calls)
		return;
	python_calls_stats(calls->interpreters, &found);
	found.samples = ret->samples;
	found.unnamed = ret->unnamed;
	found.others = ret->others;
	if (calls->why_not) {
		found.refused += found.processes;
		found.processes = 0;
		(void)snprintf(found.reason, sizeof(found.reason), "%s", calls->why_not);
	}
	*ret = found;
}
