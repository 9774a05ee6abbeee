/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_SAMPLER_H
#define WICK_ENGINE_PTRACE_SAMPLER_H

/*
 * sampler: takes the stacks of threads that are stopped for it.
 *
 * A stopper holds the threads, an unwinder walks them. Stacks are handed out when
 * all threads go on again, so that nobody waits for what is done with them.
 * Tables are made before they are needed where that can be foreseen.
 *
 * Threads: as for a stopper, one thread does everything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/frame.h"

struct error;
struct sampler;
struct stop_times;

struct stack_sample {
	pid_t pid;
	pid_t tid;
	char state;          /* R S D T …; 0: not known */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t since_ns;   /* of the thread's sample before, or of its beginning */
	const uint64_t *pcs; /* leaf first */
	uint32_t count;
	enum unwind_end end;
	/* Of a thread that sleeps, and where the kernel tells; leaf first. */
	const uint64_t *kernel_pcs;
	uint32_t kernel_count;
};

struct sampler_config {
	uint32_t depth;
	bool frame_pointers; /* follow those alone, no tables */
	unsigned int flags;  /* of stopper.h */
	int (*taken)(void *self, const struct stack_sample *sample, struct error *err);
	/*
	 * The rest is optional. With kernel_address, the start of a kernel function or 0,
	 * samples have kernel frames; that needs STOPPER_STATES.
	 */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	void (*started)(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid);
	void (*execed)(void *self, pid_t pid);
	void (*ended)(void *self, pid_t pid, pid_t tid);
	void (*remapped)(void *self, pid_t pid); /* its maps were read anew: /proc tells more */
	void *self;
};

/* The caller releases *ret with sampler_close(). */
int sampler_open(const struct sampler_config *config, struct sampler **ret, struct error *err);
int sampler_attach_process(struct sampler *sampler, pid_t pid, struct error *err);
int sampler_attach_thread(struct sampler *sampler, pid_t pid, pid_t tid, struct error *err);

/* Takes the stacks of all threads now. Fails as taken() fails, or when nothing can be read. */
int sampler_round(struct sampler *sampler, struct error *err);
/* To be called when the descriptor is readable. */
int sampler_pump(struct sampler *sampler, struct error *err);
int sampler_fd(const struct sampler *sampler);

size_t sampler_thread_count(const struct sampler *sampler); /* 0: all have ended */
const struct stop_times *sampler_times(const struct sampler *sampler);

/* As for a stopper: to be called before this program is stopped, and after. */
int sampler_suspend(struct sampler *sampler, struct error *err);
int sampler_resume(struct sampler *sampler, struct error *err);
void sampler_detach(struct sampler *sampler);
void sampler_close(struct sampler *sampler); /* NULL is fine */

#endif
