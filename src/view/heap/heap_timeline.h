/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_TIMELINE_H
#define WICK_VIEW_HEAP_HEAP_TIMELINE_H

/*
 * heap_timeline: what a heap holds over time, all of it and by thread or process.
 *
 * JSON has the keys title, duration_ns, from_ns, step_ns, peak {bytes, blocks}, peak_ns,
 * steps [{live, allocated, freed: {bytes, blocks}, most_bytes, least_bytes, per_second
 * {allocated_bytes, allocated_blocks, freed_bytes, freed_blocks}}], memory (see heap_memory.h), by,
 * rows [{name, process, pid, tid, most_bytes, live_steps [], allocated_steps [], freed_steps []}]
 * and more. What there is per second is smoothed over five steps. Rows are sums of what threads
 * have allocated and is live at the ends of steps. CSV has a line for each step.
 */

struct bytes;
struct error;
struct heap_profile;
struct timeline_options;

/* Appends all of it to out. */
int heap_timeline_write(const struct heap_profile *heap, const struct timeline_options *options,
			struct bytes *out, struct error *err);

#endif
