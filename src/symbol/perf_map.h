/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_PERF_MAP_H
#define WICK_SYMBOL_PERF_MAP_H

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

struct jit_names;

/* The names borrow the text. Returns 0 or what jit_names_add() failed with. */
int perf_map_parse(const char *text, size_t size, struct jit_names *names);

#endif
