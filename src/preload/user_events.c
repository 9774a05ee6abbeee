/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_events: what the program reports about itself: include/wick/wick.h calls these functions if
 * they exist. A thread that is already in our code, in its handler or here, stays out.
 */
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "preload/real_functions.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "preload/stack.h"
#include "preload/thread.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"
#include "unwind/arch/native.h"
#include "wick/wick.h"

#define PART_LABEL "part"
#define PART_EVENT "part"

/* A growing list of texts, up to the limit of a record. */
struct texts {
	char bytes[SESSION_TEXT_BYTES];
	uint32_t size;
};

/* Our own strlen(): a bad pointer then faults in our own code, which we survive. */
static uint32_t length_of(const char *text)
{
	const char *at = text ? text : "";
	uint32_t length = 0;

	for (; *at && length < PRELOAD_NAME_BYTES - 1; at++)
		length++;
	return length;
}

static void add_text(struct texts *texts, const char *text)
{
	uint32_t length = length_of(text);

	for (uint32_t i = 0; i < length; i++)
		texts->bytes[texts->size++] = text[i];
	texts->bytes[texts->size++] = '\0';
}

/* Adds a label if it fits together with the end mark; else counts it as dropped. */
static void add_label(struct texts *texts, const char *key, const char *value)
{
	uint32_t bytes = length_of(key) + 1 + length_of(value) + 1;

	if (SESSION_TEXT_BYTES - texts->size < bytes + sizeof(SESSION_TEXT_END)) {
		preload_count(SESSION_NO_LABEL, 1);
		return;
	}
	add_text(texts, key);
	add_text(texts, value);
}

/* Whether a stored text equals a text after cutting. */
static bool is_same(const char *kept, const char *text)
{
	uint32_t length = length_of(kept);

	if (length_of(text) != length)
		return false;
	while (length > 0 && kept[length - 1] == text[length - 1])
		length--;
	return length == 0;
}

/* Enters our code. Returns the thread; NULL: nothing to record. */
static struct preload_thread *enter(void)
{
	struct preload_thread *thread = preload_self;

	if (!preload_active() || !thread)
		return NULL;
	/* A child of vfork shares its parent's memory and must not change it. */
	if (thread->tid != (uint32_t)safe_syscall(SYS_gettid, 0))
		return NULL;
	if (atomic_exchange(&thread->busy, 1) == 0)
		return thread;
	preload_count(SESSION_BUSY, 1);
	return NULL;
}

static void leave(struct preload_thread *thread)
{
	atomic_store(&thread->busy, 0);
}

/* The position of the program: in the caller of one of our functions. */
struct place {
	struct unwind_frame frame;
	uint64_t caller; /* the return address */
};

#define PLACE_CAPTURE(place)                                                                       \
	do {                                                                                       \
		unwind_capture(&(place)->frame);                                                   \
		(place)->caller = (uint64_t)(uintptr_t)__builtin_return_address(0);                \
	} while (0)

/*
 * Our own functions are not part of the program; the leaf is their caller. A walk that uses only
 * frame pointers may skip that, so it is passed in.
 */
static void begin_at_caller(struct preload_thread *thread, const struct place *place,
			    struct ring_sample *sample)
{
	uint64_t caller = place->caller & ~preload.unwind.pac_mask;
	uint32_t own = 0;

	while (own < sample->count && stack_is_own(thread->pcs[own]))
		own++;
	if (own > 0 && (own == sample->count || thread->pcs[own] != caller))
		own--; /* its slot is for the caller */
	sample->count -= own;
	for (uint32_t i = 0; i < sample->count; i++)
		thread->pcs[i] = thread->pcs[i + own];
	if (sample->count > 0)
		thread->pcs[0] = caller - 1; /* in the call, not after it */
}

static void put_event(struct preload_thread *thread, const struct wick_event *event,
		      const struct place *place)
{
	struct ring_sample sample = {.ticks = safe_ticks(), .weight_ns = event->weight};
	struct texts texts = {.size = 0};

	add_text(&texts, event->name ? event->name : "event");
	add_text(&texts, event->unit ? event->unit : "count");
	/* Each needs at least two bytes: more labels cannot fit. */
	for (size_t i = 0; i < event->label_count && i < SESSION_TEXT_BYTES / 2; i++)
		add_label(&texts, event->labels[i].key, event->labels[i].value);
	add_text(&texts, SESSION_TEXT_END);
	sample.flags = UNWIND_ROOT;
	if (place) {
		stack_take(thread, &place->frame, &sample);
		begin_at_caller(thread, place, &sample);
	}
	if (event->is_gauge)
		sample.flags |= SESSION_GAUGE;
	ring_put_event(thread, &sample, (struct ring_texts){texts.bytes, texts.size});
}

/* A walk may fault: see tick_handler_fault(). */
static __attribute__((noinline)) void put_guarded(struct preload_thread *thread,
						  const struct wick_event *event,
						  const struct place *place)
{
	if (atomic_load(&preload.paused) & PRELOAD_STOPPED)
		return;
	if (_setjmp(thread->recovery) == 0) {
		atomic_store(&thread->guarded, 1);
		put_event(thread, event, place);
	}
	atomic_store(&thread->guarded, 0);
}

PRELOAD_EXPORT void wick_record_event(const struct wick_event *event)
{
	struct preload_thread *thread = enter();
	struct place place;

	if (!thread)
		return;
	PLACE_CAPTURE(&place);
	put_guarded(thread, event, event->with_stack ? &place : NULL);
	leave(thread);
}

/* Rewrites the labels of a thread with one of them changed; NULL removes it. */
static void set_label(struct preload_thread *thread, const char *key, const char *value)
{
	struct texts texts = {.size = 0};
	uint32_t mark = thread->label_bytes > 0 ? sizeof(SESSION_TEXT_END) : 0;
	const char *end = thread->labels + thread->label_bytes - mark;

	for (const char *at = thread->labels; at < end;) {
		const char *old = at + length_of(at) + 1;

		if (!is_same(at, key))
			add_label(&texts, at, old);
		at = old + length_of(old) + 1;
	}
	if (value)
		add_label(&texts, key, value);
	if (texts.size > 0)
		add_text(&texts, SESSION_TEXT_END);
	for (uint32_t i = 0; i < texts.size; i++)
		thread->labels[i] = texts.bytes[i];
	thread->label_bytes = texts.size;
	ring_put_labels(thread, (struct ring_texts){thread->labels, thread->label_bytes});
}

PRELOAD_EXPORT void wick_record_label(const char *key, const char *value)
{
	struct preload_thread *thread = enter();

	if (!thread)
		return;
	if (key)
		set_label(thread, key, value);
	leave(thread);
}

PRELOAD_EXPORT void wick_record_begin(const char *name)
{
	struct preload_thread *thread = enter();
	uint32_t at;

	if (!thread)
		return;
	at = thread->part_count++;
	if (at < PRELOAD_PARTS) {
		uint32_t length = length_of(name);

		for (uint32_t i = 0; i < length; i++)
			thread->parts[at].name[i] = name[i];
		thread->parts[at].name[length] = '\0';
		thread->parts[at].begin_ns = safe_clock_ns(CLOCK_MONOTONIC);
		set_label(thread, PART_LABEL, thread->parts[at].name);
	}
	leave(thread);
}

/* Ends the innermost part: its time becomes an event, and the outer part continues. */
static void end_part(struct preload_thread *thread, const struct place *place)
{
	uint32_t at = --thread->part_count;
	struct wick_label label = {PART_LABEL, NULL};
	struct wick_event event = {PART_EVENT, "nanoseconds", 0, 1, &label, 1, 0};

	if (at >= PRELOAD_PARTS)
		return; /* nested too deeply */
	label.value = thread->parts[at].name;
	event.weight = safe_clock_ns(CLOCK_MONOTONIC) - thread->parts[at].begin_ns;
	put_guarded(thread, &event, place);
	set_label(thread, PART_LABEL, at > 0 ? thread->parts[at - 1].name : NULL);
}

PRELOAD_EXPORT void wick_record_end(void)
{
	struct preload_thread *thread = enter();
	struct place place;

	if (!thread)
		return;
	PLACE_CAPTURE(&place);
	if (thread->part_count > 0)
		end_part(thread, &place);
	leave(thread);
}

PRELOAD_EXPORT void wick_record_pause(int paused)
{
	if (paused)
		atomic_fetch_or(&preload.paused, PRELOAD_PAUSED);
	else
		atomic_fetch_and(&preload.paused, ~PRELOAD_PAUSED);
}

/* One thread switches the ticks of all; others leave it to that one, which checks again. */
static void switch_all(void)
{
	static _Atomic uint32_t switching;
	uint32_t done;

	do {
		if (atomic_exchange(&switching, 1) != 0)
			return;
		done = atomic_load(&preload.paused) & PRELOAD_STOPPED;
		if (done)
			thread_stop_all();
		else
			thread_rearm_all();
		atomic_store(&switching, 0);
	} while ((atomic_load(&preload.paused) & PRELOAD_STOPPED) != done);
}

PRELOAD_EXPORT void wick_record_stop(int stopped)
{
	uint32_t before = stopped ? atomic_fetch_or(&preload.paused, PRELOAD_STOPPED)
				  : atomic_fetch_and(&preload.paused, ~PRELOAD_STOPPED);

	if (!preload_active() || preload.pid != (uint32_t)safe_syscall(SYS_getpid, 0))
		return;
	if (stopped != ((before & PRELOAD_STOPPED) != 0))
		switch_all();
}
