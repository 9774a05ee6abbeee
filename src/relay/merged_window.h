/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_MERGED_WINDOW_H
#define WICK_RELAY_MERGED_WINDOW_H

/*
 * merged_window: one recording made of the windows of many agents, so that names and stacks that
 * they share are sent once. Nothing is added up: each sample keeps its weight and its time of day,
 * and gets the label "relay.window" with the number of its window. What window N says about itself
 * is in the facts "relay.N.KEY", so that a server can store each window under its own id.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct merged_window;

/* Takes over fd, on failure too. The caller releases *ret with merged_window_free(). */
int merged_window_open(int fd, const char *id, struct merged_window **ret, struct error *err);
void merged_window_free(struct merged_window *merged); /* NULL is fine */

/*
 * Whether a complete window can become a part: it has only samples, names and facts, and says when
 * it began. Others are sent as they are. ret_raw_bytes: what it decompresses to.
 */
bool merged_window_takes(const void *data, size_t size, uint64_t *ret_raw_bytes);

/* A complete window. */
struct merged_part {
	const void *data;
	size_t size;
	const char *id;   /* under which a server stores it */
	int64_t offset_s; /* what the clock of its agent was behind ours */
};

/*
 * Adds a window. -E2BIG: a sample has as many labels as there may be. After a failure the recording
 * is of no use.
 */
int merged_window_add(struct merged_window *merged, const struct merged_part *part,
		      struct error *err);

/* Writes the end mark. */
int merged_window_finish(struct merged_window *merged, struct error *err);

#endif
