/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_JIT_FUNCTIONS_H
#define WICK_PIPELINE_JIT_FUNCTIONS_H

/*
 * jit_functions: puts names of compiled code that samples hit into the recording,
 * from /tmp/perf-PID.map and jit-PID.dump of the processes that made it. Both are
 * gone or overwritten soon, and mean nothing on another machine.
 */

struct jit_watch;
struct recording_writer;

/*
 * For the end of a recording, which was watched. notice, which may be NULL, is told of files that
 * were there and not used, and why.
 */
void jit_functions_write(struct recording_writer *writer, const struct jit_watch *watch,
			 void (*notice)(void *self, const char *text), void *self);

#endif
