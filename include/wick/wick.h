/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WICK_H
#define WICK_WICK_H

/*
 * wick: what a program tells of itself to whoever records it:
 *
 *	wick_event("db.query", elapsed_ns);
 *	wick_gauge("queue.length", length);
 *	wick_label("tenant", name);
 *	wick_profile_begin("parse"); … wick_profile_end();
 *	wick_alloc(block, size); … wick_free(block);
 *
 * Include it and link nothing: the functions are there when the program runs under
 * `wick record --engine signal` or `wick heap`, and cost a test of a pointer when it does not.
 * Events become values of the recording, beside its samples; labels and parts stand
 * with every sample that their thread takes from then on. docs/reference/user-events.md tells what
 * each view and format makes of them.
 *
 * Threads: all of it, at any time, also in signal handlers; what interrupts itself is
 * dropped and counted. Texts are copied; names are cut after 200 bytes.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_label {
	const char *key;
	const char *value;
};

struct wick_event {
	const char *name; /* what happened: "db.query" */
	const char *unit; /* of the weight: "nanoseconds", "bytes", "count" … */
	uint64_t weight;
	int with_stack;                  /* and where: takes a microsecond more */
	const struct wick_label *labels; /* of this event alone */
	size_t label_count;
	int is_gauge; /* the weight is an int64_t, what there is now: never added up */
};

/* Not to be called by name: they are there under a recorder only. */
#define WICK_WEAK __attribute__((weak, visibility("default")))
WICK_WEAK void wick_record_event(const struct wick_event *event);
WICK_WEAK void wick_record_label(const char *key, const char *value);
WICK_WEAK void wick_record_begin(const char *name);
WICK_WEAK void wick_record_end(void);
WICK_WEAK void wick_record_pause(int paused);
WICK_WEAK void wick_record_stop(int stopped);
WICK_WEAK void wick_record_alloc(const void *block, size_t size);
WICK_WEAK void wick_record_free(const void *block);

/* Whether somebody records this program. */
static inline int wick_is_recorded(void)
{
	return wick_record_event != NULL;
}

static inline void wick_event_full(const struct wick_event *event)
{
	if (wick_record_event)
		wick_record_event(event);
}

/* Something took that long. */
static inline void wick_event(const char *name, uint64_t elapsed_ns)
{
	struct wick_event event = {name, "nanoseconds", elapsed_ns, 1, NULL, 0, 0};

	wick_event_full(&event);
}

/* Something happened so many times, or went up by so much. */
static inline void wick_count(const char *name, uint64_t times)
{
	struct wick_event event = {name, "count", times, 0, NULL, 0, 0};

	wick_event_full(&event);
}

/* There is so much of something now: the length of a queue, open files, free room. */
static inline void wick_gauge(const char *name, int64_t level)
{
	struct wick_event event = {name, "count", (uint64_t)level, 0, NULL, 0, 1};

	wick_event_full(&event);
}

/*
 * What is done for whom, from now on in this thread and in what it forks; NULL takes it
 * back. A thread has room for 64 of them, and 2046 bytes in all.
 */
static inline void wick_label(const char *key, const char *value)
{
	if (wick_record_label)
		wick_record_label(key, value);
}

/* The trace that this thread works for: ids in hex, as in W3C's traceparent; NULL: none. */
static inline void wick_trace(const char *trace_id, const char *span_id)
{
	wick_label("trace_id", trace_id);
	wick_label("span_id", span_id);
}

/*
 * A part of the work begins and ends, in one thread: samples and events between the two
 * have its name as the label "part", and the time that it took is an event "part". Parts
 * may lie in parts, 16 deep.
 */
static inline void wick_profile_begin(const char *name)
{
	if (wick_record_begin)
		wick_record_begin(name);
}

static inline void wick_profile_end(void)
{
	if (wick_record_end)
		wick_record_end();
}

/*
 * A pool of the program's own has given out a block, and is about to take it back. Such
 * blocks lie inside others, which the pool had of malloc() or mmap(): they are recorded
 * beside those, as a kind of their own, and are no memory on top of them. What a pool does
 * within malloc() or operator new, where the program brings its own, is told by that call.
 */
static inline void wick_alloc(const void *block, size_t size)
{
	if (wick_record_alloc)
		wick_record_alloc(block, size);
}

static inline void wick_free(const void *block)
{
	if (wick_record_free)
		wick_record_free(block);
}

/* No samples of this program until it is resumed; what it tells is kept. Takes a store. */
static inline void wick_pause(void)
{
	if (wick_record_pause)
		wick_record_pause(1);
}

static inline void wick_resume(void)
{
	if (wick_record_pause)
		wick_record_pause(0);
}

/*
 * Nothing at all of this program until it is started: no samples, no events, and no ticks
 * that could disturb it. A program that wants but a stretch of itself seen stops first.
 * What it stops it stops in all its threads, and in processes that it forks.
 */
static inline void wick_stop(void)
{
	if (wick_record_stop)
		wick_record_stop(1);
}

static inline void wick_start(void)
{
	if (wick_record_stop)
		wick_record_stop(0);
}

#ifdef __cplusplus
}
#endif

#endif
