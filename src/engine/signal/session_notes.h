/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SESSION_NOTES_H
#define WICK_ENGINE_SIGNAL_SESSION_NOTES_H

/* session_notes: remarks for the user about a recording from inside. */

#include <stdint.h>

#include "wire/session.h"

struct engine_stats;
struct tick_clock;

/* When recording of the heap was reduced, for the first program where it was. */
struct heap_marks {
	uint64_t start_ns;
	uint64_t step_ns[SESSION_HEAP_NONE]; /* by enum session_heap_level - 1; 0: never */
	char deepbind[128];                  /* a library whose calls bypass us; "": none */
};

void heap_marks_take(struct heap_marks *marks, const struct tick_clock *clock,
		     const struct session_process *process);

/* The plural ending for a count: "" or "s". */
static inline const char *session_note_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Adds a remark, with a separator. */
void session_note(struct engine_stats *stats, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports what was left out or had no space; counts by enum session_count. */
void session_note_threads(struct engine_stats *stats, const uint64_t *counts);

/* Reports problems of the heap recording; counts by enum session_count. */
void session_note_heap(struct engine_stats *stats, const uint64_t *counts,
		       const struct heap_marks *marks);

#endif
