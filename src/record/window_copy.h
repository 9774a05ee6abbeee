/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_WINDOW_COPY_H
#define WICK_RECORD_WINDOW_COPY_H

/*
 * window_copy: copies a time range of a recording into another recording.
 *
 * Samples and losses are selected by time; all clocks and mappings are copied. An off-CPU time that
 * began before the range counts from the start of the range. The caller writes the facts about the
 * session, the names and the end mark.
 */

#include <stdint.h>

struct error;
struct recording_reader;
struct recording_writer;

struct window {
	uint64_t from_ns;
	uint64_t until_ns; /* inclusive */
	/* Called after each part, because there may be many; NULL is fine. */
	int (*meanwhile)(void *self, struct error *err);
	void *self;
};

/* Parts missing before the first one that the reader finds do not matter. */
int window_copy(struct recording_reader *reader, struct recording_writer *writer,
		const struct window *window, struct error *err);

#endif
