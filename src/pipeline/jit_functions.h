/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_JIT_FUNCTIONS_H
#define WICK_PIPELINE_JIT_FUNCTIONS_H

/*
 * jit_functions: names of compiled code that samples hit, from /tmp/perf-PID.map and
 * jit-PID.dump of the processes that made it. Both are gone or overwritten soon, and
 * mean nothing on another machine: recordings keep what they need of them.
 */

#include <stdbool.h>
#include <stdint.h>

struct dictionary;
struct import_origin;
struct jit_symbol;
struct jit_watch;
struct recording_writer;

struct jit_functions_search {
	const struct dictionary *dictionary;
	const struct jit_watch *watch; /* when names came; NULL: nobody knows */
	bool is_past;                  /* the processes are those of an imported file */
	uint64_t written_ns;           /* since 1970, when that was written; 0: not known */
	/* Is told of each name that a frame of the dictionary needs. A negative answer ends
	 * those of the process. */
	int (*found)(void *self, uint32_t process, const struct jit_symbol *symbol);
	/* Is told of files that were there and not used, and why; NULL is fine. */
	void (*notice)(void *self, const char *text);
	void *self;
};

void jit_functions_find(const struct jit_functions_search *search);

/*
 * For the end of a recording, which was watched. notice, which may be NULL, is told of files that
 * were there and not used, and why.
 */
void jit_functions_write(struct recording_writer *writer, const struct jit_watch *watch,
			 void (*notice)(void *self, const char *text), void *self);

/*
 * For an imported file: names from perf's maps of processes that ran on this machine before it was
 * written. Only maps of the reader's own count: see proc/jit_file.h.
 */
void jit_functions_if_same(struct recording_writer *writer, const struct import_origin *origin);

#endif
