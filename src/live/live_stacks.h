/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_STACKS_H
#define WICK_LIVE_LIVE_STACKS_H

/*
 * live_stacks: stacks of a running process, written as they are taken.
 *
 * What the stacks look like as text, others know. Text is written when the reader
 * takes it: one that does not makes samples fail to appear, but never holds up the
 * process, whose signals wait for us to pass them on.
 *
 * Owns the loop that runs until someone asks to stop (SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT), the wished number or time is reached, or the process ends. The
 * process is then as it was before.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
	bool threads; /* all of them, not the main one alone */
	bool frame_pointers;
	/* The start of a kernel function, 0 when unknown. NULL: no kernel frames. */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	int out_fd;
	/* Puts the text for the beginning, and of a stack; rounds count from 1. */
	void (*attached)(void *self, struct bytes *out);
	void (*taken)(void *self, uint64_t round, const struct stack_sample *sample,
		      struct bytes *out);
	void (*remapped)(void *self); /* optional: addresses mean something else from now on */
	void *self;
};

struct live_stacks_result {
	bool ended; /* the process has */
	struct stop_times times;
};

int live_stacks_run(const struct live_stacks_config *config, struct live_stacks_result *ret,
		    struct error *err);

#endif
