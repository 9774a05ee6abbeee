/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_JIT_WATCH_H
#define WICK_LOAD_NAMES_JIT_WATCH_H

/*
 * jit_watch: when the lines of /tmp/perf-PID.map came, which say nothing of it themselves.
 *
 * While recording it looks now and then how long the maps have grown of processes that were
 * seen in compiled code: a line behind that end came later, and what it names was not there.
 *
 * Starts as zeros. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct dictionary;
struct perf_map_mark;
struct process;
struct watched_map;

struct jit_watch {
	VEC(struct watched_map *) maps;
	size_t modules; /* of the dictionary that were looked at */
	uint64_t next_ns;
};

void jit_watch_fini(struct jit_watch *watch);

/* Looks when it is time again: call it often. Without memory times stay unknown. */
void jit_watch_look(struct jit_watch *watch, const struct dictionary *dictionary, uint64_t now_ns);

/* How the map of a process, known by its identity, grew; *ret is borrowed. */
size_t jit_watch_marks(const struct jit_watch *watch, const struct process *process,
		       const struct perf_map_mark **ret);

#endif
