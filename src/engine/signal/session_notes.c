/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/session_notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/engine_stats.h"
#include "engine/signal/tick_clock.h"
#include "wire/session.h"

void session_note(struct engine_stats *stats, const char *format, ...)
{
	size_t length = strlen(stats->remark);
	va_list arguments;

	if (length > 0 && length + 2 < sizeof(stats->remark)) {
		memcpy(stats->remark + length, "; ", 3);
		length += 2;
	}
	va_start(arguments, format);
	(void)vsnprintf(stats->remark + length, sizeof(stats->remark) - length, format, arguments);
	va_end(arguments);
}

void session_note_threads(struct engine_stats *stats, const uint64_t *counts)
{
	if (counts[SESSION_LEFT] > 0)
		session_note(
			stats,
			"not recorded: %llu program%s started with an empty environment (env -i); "
			"keep " SESSION_VARIABLE " and LD_PRELOAD in it",
			(unsigned long long)counts[SESSION_LEFT],
			session_note_s(counts[SESSION_LEFT]));
	if (counts[SESSION_NO_LABEL] > 0)
		session_note(stats,
			     "%llu label%s dropped: a thread has %u bytes for labels; shorten them",
			     (unsigned long long)counts[SESSION_NO_LABEL],
			     session_note_s(counts[SESSION_NO_LABEL]), SESSION_TEXT_BYTES);
	if (counts[SESSION_NO_SLOT] > 0)
		session_note(stats,
			     "not recorded: %llu thread%s beyond the limit of %u at once; %s",
			     (unsigned long long)counts[SESSION_NO_SLOT],
			     session_note_s(counts[SESSION_NO_SLOT]), SESSION_SLOTS,
			     stats->heap.events > 0 || counts[SESSION_HEAP_MISSED] > 0
				     ? "record the heap from outside: wick heap -p PID"
				     : "use --engine perf");
	if (counts[SESSION_NO_TIMER] > 0)
		session_note(stats, "the kernel had no timer for %llu thread%s: raise ulimit -i",
			     (unsigned long long)counts[SESSION_NO_TIMER],
			     session_note_s(counts[SESSION_NO_TIMER]));
	if (counts[SESSION_SHARED_TIMER] > 0)
		session_note(stats,
			     "the kernel had no timer for %llu thread%s: sampled by the process "
			     "timer, no faster than the kernel tick; raise ulimit -i",
			     (unsigned long long)counts[SESSION_SHARED_TIMER],
			     session_note_s(counts[SESSION_SHARED_TIMER]));
	/* For the heap the number of walked stacks is unknown. */
	if (stats->heap.events == 0 && stats->samples.count > 0 &&
	    counts[SESSION_FRAME_POINTERS] * 100 > stats->samples.count)
		session_note(stats,
			     "%.0f %% of stacks were walked by frame pointers only, because "
			     "unwind tables are missing: callers may be missing",
			     100.0 * (double)counts[SESSION_FRAME_POINTERS] /
				     (double)stats->samples.count);
}

void heap_marks_take(struct heap_marks *marks, const struct tick_clock *clock,
		     const struct session_process *process)
{
	for (size_t i = 0; i < SESSION_HEAP_NONE; i++) {
		uint64_t ticks = atomic_load(&process->heap_steps[i]);
		uint64_t time_ns = ticks > 0 ? tick_clock_ns(clock, ticks) : 0;

		if (ticks > 0 && (marks->step_ns[i] == 0 || time_ns < marks->step_ns[i]))
			marks->step_ns[i] = time_ns;
	}
	if (marks->deepbind[0] == '\0') /* text of another process may lack its NUL */
		(void)snprintf(marks->deepbind, sizeof(marks->deepbind), "%.*s",
			       (int)sizeof(process->deepbind) - 1, process->deepbind);
}

/* When a level was reached, in seconds; negative: never, or skipped for the next one. */
static double step_s(const struct heap_marks *marks, enum session_heap_level level)
{
	uint64_t time_ns = marks->step_ns[level - 1];
	bool passed = level < SESSION_HEAP_COUNTS && marks->step_ns[level] == time_ns;

	if (time_ns == 0 || passed)
		return -1;
	return time_ns > marks->start_ns ? (double)(time_ns - marks->start_ns) / NS_PER_SEC : 0;
}

static void remark_steps(struct engine_stats *stats, const uint64_t *counts,
			 const struct heap_marks *marks)
{
	double samples_s = step_s(marks, SESSION_HEAP_SAMPLES);
	double totals_s = step_s(marks, SESSION_HEAP_TOTALS);
	double counts_s = step_s(marks, SESSION_HEAP_COUNTS);
	double none_s = step_s(marks, SESSION_HEAP_NONE);

	if (samples_s >= 0)
		session_note(stats,
			     "from %.3f s on small blocks were sampled, because of --max-memory",
			     samples_s);
	if (totals_s >= 0)
		session_note(stats,
			     "from %.3f s on blocks were only summed by stack, because of "
			     "--max-memory: what is live does not include them",
			     totals_s);
	if (counts_s >= 0)
		session_note(
			stats,
			"from %.3f s on blocks were only counted, because of --max-memory: %llu "
			"with %llu bytes, without stacks",
			counts_s, (unsigned long long)counts[SESSION_HEAP_COUNTED],
			(unsigned long long)counts[SESSION_HEAP_COUNTED_BYTES]);
	if (none_s >= 0)
		session_note(stats,
			     "from %.3f s on the heap was not recorded in a program that overwrote "
			     "our tables more than 100 times: it writes out of bounds, try "
			     "valgrind or -fsanitize=address",
			     none_s);
}

void session_note_heap(struct engine_stats *stats, const uint64_t *counts,
		       const struct heap_marks *marks)
{
	remark_steps(stats, counts, marks);
	if (counts[SESSION_HEAP_DEEPBIND] > 0)
		session_note(stats,
			     "opened with RTLD_DEEPBIND, so its calls of malloc() bypass us and "
			     "are not seen: %s%s; open it without that flag",
			     marks->deepbind,
			     counts[SESSION_HEAP_DEEPBIND] > 1 ? " and others" : "");
	if (counts[SESSION_HEAP_STALLS] > 0)
		session_note(stats,
			     "the recorder did not run for a second, %llu time%s: part of what "
			     "programs did meanwhile is lost; give it a CPU",
			     (unsigned long long)counts[SESSION_HEAP_STALLS],
			     session_note_s(counts[SESSION_HEAP_STALLS]));
	if (counts[SESSION_HEAP_MISSED] > 0)
		session_note(stats, "lost: %llu allocator call%s, by threads that %s",
			     (unsigned long long)counts[SESSION_HEAP_MISSED],
			     session_note_s(counts[SESSION_HEAP_MISSED]),
			     counts[SESSION_NO_SLOT] > 0
				     ? "had no buffer space"
				     : "started without the C library, or inside another call");
	if (counts[SESSION_HEAP_BYPASSED] > 0 && stats->heap.events > 0) /* else: absence */
		session_note(stats,
			     "%llu program%s used a statically linked malloc() instead of the "
			     "library's: its blocks are not seen; link the allocator dynamically",
			     (unsigned long long)counts[SESSION_HEAP_BYPASSED],
			     session_note_s(counts[SESSION_HEAP_BYPASSED]));
	if (counts[SESSION_HEAP_DAMAGED] > 0)
		session_note(stats,
			     "the program overwrote our tables, %llu time%s: it writes out of "
			     "bounds, try valgrind or -fsanitize=address",
			     (unsigned long long)counts[SESSION_HEAP_DAMAGED],
			     session_note_s(counts[SESSION_HEAP_DAMAGED]));
}
