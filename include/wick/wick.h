/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WICK_H
#define WICK_WICK_H

/*
 * wick: lets a program report events about itself to a recorder:
 *
 *	wick_event("db.query", elapsed_ns);
 *	wick_gauge("queue.length", length);
 *	wick_label("tenant", name);
 *	wick_profile_begin("parse"); … wick_profile_end();
 *	wick_alloc(block, size); … wick_free(block);
 *
 * Include this header; there is no library to link. The functions are available when the program
 * runs under `wick record --engine signal` or `wick heap`; otherwise each call costs a test of a
 * pointer. Events become values in the recording, beside its samples. Labels and parts are attached
 * to every later sample of their thread. docs/reference/user-events.md describes how views and
 * formats show them.
 *
 * Threads: any thread may call any function at any time, even in signal handlers. A call that
 * interrupts another one in the same thread is dropped and counted. Texts are copied; names are cut
 * after 200 bytes.
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
	int with_stack;                  /* also record the stack: takes a microsecond more */
	const struct wick_label *labels; /* of this event only */
	size_t label_count;
	int is_gauge; /* the weight is an int64_t, the current level: never summed */
};

/* Do not call these directly: they exist only under a recorder. */
#define WICK_WEAK __attribute__((weak, visibility("default")))
WICK_WEAK void wick_record_event(const struct wick_event *event);
WICK_WEAK void wick_record_label(const char *key, const char *value);
WICK_WEAK void wick_record_begin(const char *name);
WICK_WEAK void wick_record_end(void);
WICK_WEAK void wick_record_pause(int paused);
WICK_WEAK void wick_record_stop(int stopped);
WICK_WEAK void wick_record_alloc(const void *block, size_t size);
WICK_WEAK void wick_record_free(const void *block);

/* Whether this program is being recorded. */
static inline int wick_is_recorded(void)
{
	return wick_record_event != NULL;
}

static inline void wick_event_full(const struct wick_event *event)
{
	if (wick_record_event)
		wick_record_event(event);
}

/* Something took this long. */
static inline void wick_event(const char *name, uint64_t elapsed_ns)
{
	struct wick_event event = {name, "nanoseconds", elapsed_ns, 1, NULL, 0, 0};

	wick_event_full(&event);
}

/* Something happened this many times, or increased by this much. */
static inline void wick_count(const char *name, uint64_t times)
{
	struct wick_event event = {name, "count", times, 0, NULL, 0, 0};

	wick_event_full(&event);
}

/* The current level of something: the length of a queue, open files, free space. */
static inline void wick_gauge(const char *name, int64_t level)
{
	struct wick_event event = {name, "count", (uint64_t)level, 0, NULL, 0, 1};

	wick_event_full(&event);
}

/*
 * Labels this thread, and processes it forks, from now on; a NULL value removes the label. A thread
 * can have 64 labels, and 2046 bytes in total.
 */
static inline void wick_label(const char *key, const char *value)
{
	if (wick_record_label)
		wick_record_label(key, value);
}

/* The trace that this thread works on: ids in hex, as in the W3C traceparent; NULL: none. */
static inline void wick_trace(const char *trace_id, const char *span_id)
{
	wick_label("trace_id", trace_id);
	wick_label("span_id", span_id);
}

/*
 * Begin and end of a part of the work, in one thread: samples and events in between have its name
 * as the label "part", and its duration is an event "part". Parts can be nested, up to 16 deep.
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
 * A custom pool has handed out a block, or is about to take it back. Such blocks are inside larger
 * blocks that the pool got from malloc() or mmap(): they are recorded as a separate kind and do not
 * count as additional memory. If a pool works inside the program's own malloc() or operator new,
 * that call already reports the block.
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

/*
 * Pauses sampling of this program until wick_resume(); events are still recorded. Costs one store.
 */
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
 * Until wick_start(), no samples and no events of this program are recorded, and no timer ticks
 * disturb it. Allocations are still recorded (wick heap). To record only one phase, a program calls
 * wick_stop() first. This affects all threads, and processes that the program forks.
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
