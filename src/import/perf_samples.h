/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_SAMPLES_H
#define WICK_IMPORT_PERF_SAMPLES_H

/*
 * perf_samples: turns samples of perf.data, in time order, into stacks and passes them to a sink in
 * batches.
 */

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

struct error;
struct perf_event;
struct perf_file;
struct perf_samples;
struct process_tracker;
struct sink;

/* Borrows all arguments. Returns NULL if out of memory. */
struct perf_samples *perf_samples_new(struct sink *sink, struct process_tracker *tracker,
				      const struct perf_file *file);
void perf_samples_free(struct perf_samples *samples); /* NULL is fine */

/* Whether stacks come from the kernel's frame-pointer walk. */
bool perf_samples_by_frame_pointers(const struct perf_samples *samples);

/*
 * The samples come from another CPU architecture: copied stacks cannot be unwound. They end after
 * the leaf, and count as cut.
 */
void perf_samples_set_foreign(struct perf_samples *samples, bool foreign);

/*
 * Adds a sample of an event, with its time on the clock of the recording. Returns 1, 0 if it is
 * damaged, or a negative errno.
 */
int perf_samples_put(struct perf_samples *samples, const struct perf_event *event,
		     const struct perf_event_header *record, uint64_t time_ns, struct error *err);

/* Passes on all pending samples. */
int perf_samples_flush(struct perf_samples *samples, struct error *err);

#endif
