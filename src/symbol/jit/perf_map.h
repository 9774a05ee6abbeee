/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_PERF_MAP_H
#define WICK_SYMBOL_JIT_PERF_MAP_H

/*
 * perf_map: the text that runtimes write to /tmp/perf-PID.map, one line for each
 * piece of code: start and size in hex, the name up to the end of the line.
 *
 *	3ef414c0 398 LazyCompile:~emit node:events:493
 *
 * The text is hostile. Lines that make no sense are passed over; an unfinished
 * one at the end is still being written and does not count.
 */

#include <stddef.h>
#include <stdint.h>

struct jit_names;

/* Where it is, by the pid that the process has in its own namespace. */
#define PERF_MAP_PATH "/tmp/perf-%d.map"

/* How long the text was when somebody looked last before it grew. */
struct perf_map_mark {
	uint64_t size;
	uint64_t seen_ns;
};

/*
 * The names borrow the text. With marks, which are in order, a line that was not
 * finished at one counts from then on. Returns 0 or what jit_names_add() failed with.
 */
int perf_map_parse(const char *text, size_t size, const struct perf_map_mark *marks, size_t count,
		   struct jit_names *names);

#endif
