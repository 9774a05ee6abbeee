/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_MEMORY_WATCH_H
#define WICK_RECORD_MEMORY_WATCH_H

/*
 * memory_watch: while a heap is recorded, notes how much memory its processes have.
 *
 * All of it every 100 ms (more often in the first ones, for programs that do not live longer),
 * where it lies by turns, as often as a share of a CPU allows: of a process with much memory the
 * kernel needs a while to tell. So readings have their times, and what lies between them is
 * not known. At most 64 processes at a time are looked at.
 *
 * Starts as zeros. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct recording_writer;
struct watched_memory;

/* One part in so many of a CPU's time. */
#define MEMORY_WATCH_SHARE 200u

struct memory_watch {
	VEC(struct watched_memory) processes;
	size_t seen;       /* processes of the dictionary */
	size_t turn;       /* whose memory is split next */
	uint64_t step_ns;  /* between two looks; 0: there was none yet */
	uint64_t next_ns;  /* when the next look is due */
	uint64_t split_ns; /* before that no split */
};

void memory_watch_fini(struct memory_watch *watch);

/* Looks when it is time again: call it often, after events were drained. */
void memory_watch_look(struct memory_watch *watch, struct recording_writer *writer,
		       uint64_t now_ns);

#endif
