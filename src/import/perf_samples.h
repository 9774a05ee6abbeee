/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_SAMPLES_H
#define WICK_IMPORT_PERF_SAMPLES_H

/*
 * perf_samples: samples of perf.data, in order of time, made stacks and handed to a
 * sink in batches.
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

/* Borrows all. NULL without memory. */
struct perf_samples *perf_samples_new(struct sink *sink, struct process_tracker *tracker,
				      const struct perf_file *file);
void perf_samples_free(struct perf_samples *samples); /* NULL is fine */

/*
 * The samples are of another kind of CPU: copied stacks cannot be walked. They end behind
 * the leaf then, as cut ones.
 */
/* Whether stacks were taken as the kernel's walk by frame pointers gave them. */
bool perf_samples_by_frame_pointers(const struct perf_samples *samples);

void perf_samples_set_foreign(struct perf_samples *samples, bool foreign);

/*
 * Takes a sample of an event, with its time on the clock of the recording. Returns 1, 0
 * when it is damaged, or a negative errno.
 */
int perf_samples_put(struct perf_samples *samples, const struct perf_event *event,
		     const struct perf_event_header *record, uint64_t time_ns, struct error *err);

/* Hands over what waits. */
int perf_samples_flush(struct perf_samples *samples, struct error *err);

#endif
