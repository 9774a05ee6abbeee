/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_WINDOW_COPY_H
#define WICK_RECORD_WINDOW_COPY_H

/*
 * window_copy: the part of a recording that lies in a span of time, as another recording.
 *
 * Samples and losses are taken by their times, and clocks and mappings all. A time off
 * the CPUs that began before the span counts from the span's start. Facts about the
 * session, names and the end mark are left to the caller.
 */

#include <stdint.h>

struct error;
struct recording_reader;
struct recording_writer;

struct window {
	uint64_t from_ns;
	uint64_t until_ns; /* inclusive */
	/* Called after each part, because there may be many; NULL: nobody waits. */
	int (*meanwhile)(void *self, struct error *err);
	void *self;
};

/* What is missing before the first part that the reader finds is not of interest. */
int window_copy(struct recording_reader *reader, struct recording_writer *writer,
		const struct window *window, struct error *err);

#endif
