/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SESSION_NOTES_H
#define WICK_ENGINE_SIGNAL_SESSION_NOTES_H

/* session_notes: what else a person should know of a recording from inside. */

#include <stdint.h>

#include "wire/session.h"

struct engine_stats;
struct tick_clock;

/* When less was recorded of the heap than all, by the first program of which that is so. */
struct heap_marks {
	uint64_t start_ns;
	uint64_t step_ns[SESSION_HEAP_NONE]; /* by enum session_heap_level, - 1; 0: not */
	char deepbind[128];                  /* a library that passes us by; "": none */
};

void heap_marks_take(struct heap_marks *marks, const struct tick_clock *clock,
		     const struct session_process *process);

/* What makes a noun fit its number: "" or "s". */
static inline const char *session_note_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Adds to the remarks, with what separates them. */
void session_note(struct engine_stats *stats, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Who is left out, and what there was no room for; counts by enum session_count. */
void session_note_threads(struct engine_stats *stats, const uint64_t *counts);

/* What is to be said of the heap; counts by enum session_count. */
void session_note_heap(struct engine_stats *stats, const uint64_t *counts,
		       const struct heap_marks *marks);

#endif
