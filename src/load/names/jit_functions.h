/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_JIT_FUNCTIONS_H
#define WICK_LOAD_NAMES_JIT_FUNCTIONS_H

/*
 * jit_functions: names of compiled code that samples hit, from /tmp/perf-PID.map and
 * jit-PID.dump of the processes that made it. Both are gone or overwritten soon, and
 * mean nothing on another machine: recordings keep what they need of them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "proc/jit_file.h"

struct dictionary;
struct import_origin;
struct jit_symbol;
struct jit_watch;
struct process;
struct recording_writer;

struct jit_functions_search {
	const struct dictionary *dictionary;
	const struct jit_watch *watch; /* when names came; NULL: nobody knows */
	const struct jit_past *past;   /* the imported file that the processes are of, or NULL */
	/* Is told of each name that a frame of the dictionary needs. A negative answer ends
	 * those of the process. */
	int (*found)(void *self, uint32_t process, const struct jit_symbol *symbol);
	/* Is told of files of a process that were there and not used, and why; NULL is fine. */
	void (*notice)(void *self, const struct process *process, const char *path,
		       const char *why);
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
 * written. Not every map counts: see proc/jit_file.h. Of those that do not the recording tells.
 */
void jit_functions_if_same(struct recording_writer *writer, const struct import_origin *origin);

#endif
