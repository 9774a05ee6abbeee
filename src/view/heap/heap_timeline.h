/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_TIMELINE_H
#define WICK_VIEW_HEAP_HEAP_TIMELINE_H

/*
 * heap_timeline: the contents of a heap over time, in total and by thread or process.
 *
 * JSON has the keys title, duration_ns, from_ns, step_ns, peak {bytes, blocks}, peak_ns, steps
 * [{live, allocated, freed: {bytes, blocks}, most_bytes, least_bytes, per_second {allocated_bytes,
 * allocated_blocks, freed_bytes, freed_blocks}}], memory (see heap_memory.h), by, rows [{name,
 * process, pid, tid, most_bytes, live_steps [], allocated_steps [], freed_steps []}] and more.
 * Rates per second are smoothed over five steps. Rows are the sums of live blocks that threads
 * allocated, at the ends of steps. CSV has a line for each step.
 */

struct bytes;
struct error;
struct heap_profile;
struct timeline_options;

/* Appends the timeline to out. */
int heap_timeline_write(const struct heap_profile *heap, const struct timeline_options *options,
			struct bytes *out, struct error *err);

#endif
