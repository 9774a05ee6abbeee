/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_JIT_FUNCTIONS_H
#define WICK_LOAD_NAMES_JIT_FUNCTIONS_H

/*
 * jit_functions: names of JIT-compiled code that samples hit, from /tmp/perf-PID.map and
 * jit-PID.dump of the processes that generated it. Both files may soon be deleted or overwritten,
 * and mean nothing on another machine, so recordings keep the names they need.
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
	const struct jit_watch *watch; /* when names were added; NULL: unknown */
	const struct jit_past *past;   /* the imported file that has the processes, or NULL */
	/*
	 * Called with each name that a frame of the dictionary needs. A negative result stops the
	 * search in this process.
	 */
	int (*found)(void *self, uint32_t process, const struct jit_symbol *symbol);
	/*
	 * Called with each file of a process that exists but was not used, and why; NULL is fine.
	 */
	void (*notice)(void *self, const struct process *process, const char *path,
		       const char *why);
	void *self;
};

void jit_functions_find(const struct jit_functions_search *search);

/*
 * For the end of a recording that had a jit_watch. `notice`, which may be NULL, is called with
 * files that exist but were not used, and why.
 */
void jit_functions_write(struct recording_writer *writer, const struct jit_watch *watch,
			 void (*notice)(void *self, const char *text), void *self);

/*
 * For an imported file: names from perf maps of processes that ran on this machine before the file
 * was written. Not every map is trusted: see proc/jit_file.h. The recording notes those that are
 * not.
 */
void jit_functions_if_same(struct recording_writer *writer, const struct import_origin *origin);

#endif
