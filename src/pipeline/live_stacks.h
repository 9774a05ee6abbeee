/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_LIVE_STACKS_H
#define WICK_PIPELINE_LIVE_STACKS_H

/*
 * live_stacks: stacks of a running process, handed out as they are taken.
 *
 * Owns the loop that runs until someone asks to stop (SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT), the wished number or time is reached, or the process ends. The
 * process is then as it was before.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/ptrace/stop_times.h"

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
	/* Once, when sampling begins. */
	int (*attached)(void *self, struct error *err);
	/* Rounds count from 1. A failure ends it all. */
	int (*taken)(void *self, uint64_t round, const struct stack_sample *sample,
		     struct error *err);
	/* Optional: the stacks that there are have been handed out. */
	int (*flush)(void *self, struct error *err);
	void *self;
};

struct live_stacks_result {
	bool ended; /* the process has */
	struct stop_times times;
};

int live_stacks_run(const struct live_stacks_config *config, struct live_stacks_result *ret,
		    struct error *err);

#endif
