/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_PERF_MAP_H
#define WICK_SYMBOL_JIT_PERF_MAP_H

/*
 * perf_map: the text that runtimes write to /tmp/perf-PID.map, one line for each piece of code:
 * start and size in hex, the name up to the end of the line.
 *
 *	3ef414c0 398 LazyCompile:~emit node:events:493
 *
 * The text is not trusted. Invalid lines are skipped; an unfinished line at the end is still being
 * written and does not count.
 */

#include <stddef.h>
#include <stdint.h>

struct jit_names;

/* Its path; the pid is the one in the process's own namespace. */
#define PERF_MAP_PATH "/tmp/perf-%d.map"

/* The length of the text when it was last checked before it grew. */
struct perf_map_mark {
	uint64_t size;
	uint64_t seen_ns;
};

/*
 * The names borrow the text. With marks, which are in order, a line that was unfinished at a mark
 * counts from that time on. Returns 0 or the error of jit_names_add().
 */
int perf_map_parse(const char *text, size_t size, const struct perf_map_mark *marks, size_t count,
		   struct jit_names *names);

#endif
