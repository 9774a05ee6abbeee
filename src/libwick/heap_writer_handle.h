/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_HEAP_WRITER_HANDLE_H
#define WICK_LIBWICK_HEAP_WRITER_HANDLE_H

/* heap_writer_handle: a recording of heap events that is being written. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file/outfile.h"
#include "base/vec.h"
#include "model/entity.h"
#include "model/heap_event.h"

struct error;
struct process_tracker;
struct recording_writer;
struct sink;
struct tracked_process;

/* Events per batch. */
#define HEAP_WRITER_BATCH 4096u

#define HEAP_WRITER_SITES (1u << 27) /* WICK_HEAP_SITES */

struct heap_writer_site {
	uint32_t stack; /* ID_NONE: not defined */
	uint32_t thread;
	uint8_t space;
	bool is_reported; /* by the current search for new sites */
	bool is_hidden;
};

struct wick_heap_writer {
	pid_t pid; /* to detect a forked child */
	int fd;    /* owned by the writer */
	struct outfile file;
	bool is_whole; /* written through `file` */
	bool is_finished;
	struct recording_writer *writer;
	struct sink *sink;
	uint32_t process;
	uint32_t main_thread;

	/* For native addresses; NULL until there is one. */
	struct process_tracker *tracker;
	struct tracked_process *tracked;

	VEC(struct heap_writer_site) sites; /* see heap_writer_place_of() */
	VEC(struct frame) frames;           /* scratch */
	VEC(uint32_t) marks;                /* label sets by mark number; 0: unnamed */
	uint32_t mark_schema;
	uint32_t slack_mask; /* block_unit - 1, or 0 */

	uint64_t last_ns;      /* time of the last event */
	uint32_t batch_thread; /* thread of the events in the batch */
	size_t batch_count;
	struct heap_event batch[HEAP_WRITER_BATCH];
};

/*
 * Returns the index of a site in the list. The highest bit of the number, which tells two ranges of
 * sites apart, becomes the lowest bit, so that the list stays short.
 */
static inline uint32_t heap_writer_place_of(uint32_t number)
{
	return number << 1 | number >> 31;
}

static inline bool heap_writer_is_site(uint32_t number)
{
	return (number & INT32_MAX) < HEAP_WRITER_SITES;
}

/* Makes the list long enough for this site. Returns 0 or -ENOMEM. */
int heap_writer_reserve(struct wick_heap_writer *writer, uint32_t number);

/* Fails in a forked child and after the recording is finished. Returns 0 or a negative errno. */
int heap_writer_check(const struct wick_heap_writer *writer, struct error *err);

/* Passes the events of the batch on to the sink. */
int heap_writer_pass_on(struct wick_heap_writer *writer, struct error *err);

#endif
