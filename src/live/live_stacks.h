/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_STACKS_H
#define WICK_LIVE_LIVE_STACKS_H

/*
 * live_stacks: takes stacks of a running process and writes each immediately.
 *
 * It does not know the text format of stacks. Text is written when the reader is ready for it. A
 * slow reader loses samples, but never holds up the process, whose signals wait for us to pass them
 * on.
 *
 * Owns the loop that runs until a stop signal (SIGINT, SIGTERM, SIGHUP, SIGQUIT), until the
 * requested number or time is reached, or until the process ends. Afterwards the process is as it
 * was before.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/ptrace/stop_times.h"

struct bytes;
struct error;
struct stack_sample;

struct live_stacks_config {
	pid_t pid;
	uint64_t interval_ns;
	uint64_t count;       /* rounds; 0: no limit */
	uint64_t duration_ns; /* 0: no limit */
	uint32_t depth;
	bool threads; /* all threads, not only the main one */
	bool frame_pointers;
	enum engine_python
		python; /* calls are in place of the interpreter's loop: sampler_call() */
	/* Returns the start of a kernel function, 0 if unknown. NULL: no kernel frames. */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	int out_fd;
	/* Write the text for the start, and for a stack; rounds count from 1. */
	void (*attached)(void *self, struct bytes *out);
	void (*taken)(void *self, uint64_t round, const struct stack_sample *sample,
		      struct bytes *out);
	void (*remapped)(void *self); /* optional: called when the address space has changed */
	void *self;
};

struct live_stacks_result {
	bool ended; /* the process has ended */
	struct stop_times times;
};

int live_stacks_run(const struct live_stacks_config *config, struct live_stacks_result *ret,
		    struct error *err);

#endif
