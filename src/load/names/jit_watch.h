/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_JIT_WATCH_H
#define WICK_LOAD_NAMES_JIT_WATCH_H

/*
 * jit_watch: records when lines were added to /tmp/perf-PID.map, because the lines have no times.
 *
 * While recording, it checks from time to time how long the maps of processes seen in JIT-compiled
 * code are. A line past that length was added later, so its code did not exist before.
 *
 * Initialise with zeros. One thread at a time.
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
	size_t modules; /* modules of the dictionary examined so far */
	uint64_t next_ns;
};

void jit_watch_fini(struct jit_watch *watch);

/* Checks the maps if it is time: call it often. If out of memory, times stay unknown. */
void jit_watch_look(struct jit_watch *watch, const struct dictionary *dictionary, uint64_t now_ns);

/* How the map of a process grew; *ret is borrowed. The process is recognised by its identity. */
size_t jit_watch_marks(const struct jit_watch *watch, const struct process *process,
		       const struct perf_map_mark **ret);

#endif
