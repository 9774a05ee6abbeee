/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_WINDOW_H
#define WICK_SERVER_PUSH_WINDOW_H

/*
 * window: what a recording that was pushed says about itself, and whether it may be loaded at all.
 *
 * It comes from anybody who has a token: it must be complete and undamaged, and what its chunks
 * decompress to is added up before anything is decompressed.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;

#define WINDOW_TEXT_MAX 256
#define WINDOW_EVENTS_MAX 16
#define WINDOW_GAPS_MAX 1000
#define WINDOW_PARTS_MAX 256

struct window_gap {
	uint32_t from_s;
	uint32_t to_s;
	char reason[WINDOW_TEXT_MAX];
};

/* What an agent says of itself and of the window; 0: it does not say. */
struct window_numbers {
	double rate_asked;
	double rate_achieved;
	double cpu_percent;    /* of one CPU */
	double budget_percent; /* 0: no limit */
	double ring_percent;   /* fill of the kernel's buffers */
	double rss_bytes;
	double memory_limit_bytes; /* 0: no limit */
	double spool_windows;      /* that wait to be sent */
	double spool_bytes;
	char breaker[16]; /* "closed", "open", "off"; "": an agent that does not say, or none */
	double samples;
	double lost;
	double unnamed; /* samples whose innermost function has no name */
};

struct window {
	char host[WINDOW_TEXT_MAX];
	char version[WINDOW_TEXT_MAX];
	char id[WINDOW_TEXT_MAX];
	uint64_t start_s; /* 0: it does not say */
	uint64_t end_s;
	uint64_t bucket_s;
	struct window_numbers numbers;
	VEC(struct window_gap) gaps;
	char *events[WINDOW_EVENTS_MAX];
	size_t event_count;
	/*
	 * A relay merges windows: these are what each says about itself. Their events are those of
	 * the whole. The label WINDOW_PART_LABEL of a sample is the number of its part.
	 */
	struct window *parts;
	size_t part_count;
	int64_t clock_offset_s; /* of a part: what its agent's clock is behind the relay's */
};

#define WINDOW_PART_LABEL "relay.window"

/*
 * Reads a recording in memory. limit is for all its chunks, uncompressed. The caller releases it
 * with window_fini(), also after a failure.
 */
int window_read(struct window *window, const void *data, size_t size, size_t limit,
		struct error *err);
void window_fini(struct window *window);

/* Says that a part of it cannot be read. Returns -EBADMSG. */
int window_refuse_damaged(struct error *err);

#endif
