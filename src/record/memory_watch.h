/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_MEMORY_WATCH_H
#define WICK_RECORD_MEMORY_WATCH_H

/*
 * memory_watch: records how much memory the processes have while their heap is recorded.
 *
 * Totals are read every 100 ms (more often at first, for short programs). The split by kind of
 * memory is read for one process at a time, as often as a share of a CPU allows, because the kernel
 * needs a while to compute it for a large process. Readings have their own times; nothing is known
 * in between. At most 64 processes are watched at a time.
 *
 * Starts as zeros. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct recording_writer;
struct watched_memory;

/* The share of a CPU: one part in this many. */
#define MEMORY_WATCH_SHARE 200u

struct memory_watch {
	VEC(struct watched_memory) processes;
	size_t seen;       /* processes of the dictionary seen so far */
	size_t turn;       /* whose memory is split next */
	uint64_t step_ns;  /* between two readings; 0: none yet */
	uint64_t next_ns;  /* when the next reading is due */
	uint64_t split_ns; /* no split before this time */
};

void memory_watch_fini(struct memory_watch *watch);

/* Takes a reading if one is due: call it often, after draining events. */
void memory_watch_look(struct memory_watch *watch, struct recording_writer *writer,
		       uint64_t now_ns);

#endif
