/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_SAMPLER_H
#define WICK_ENGINE_PTRACE_SAMPLER_H

/*
 * sampler: takes the stacks of threads that it stops.
 *
 * A stopper stops the threads, an unwinder walks their stacks. Stacks are passed on after all
 * threads have resumed, so that no thread waits for their processing. Tables are built in advance
 * where possible.
 *
 * Threads: as for a stopper, one thread does everything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/frame.h"

struct error;
struct interpreter;
struct interpreters;
struct sampler;
struct stop_times;

struct stack_sample {
	pid_t pid;
	pid_t tid;
	char state;          /* R S D T …; 0: unknown */
	bool waits_for_lock; /* it sleeps until it gets its interpreter's global lock */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t since_ns;   /* time of the thread's previous sample, or of its start */
	const uint64_t *pcs; /* leaf first */
	uint32_t count;
	enum unwind_end end;
	/* Only for a sleeping thread, if the kernel reports them; leaf first. */
	const uint64_t *kernel_pcs;
	uint32_t kernel_count;
	/* Calls of an interpreter, leaf first; with calls_in_place, they are in pcs instead. */
	const uint64_t *words;
	uint32_t word_count;
	bool words_cut;
	const struct interpreter *interpreter;
};

/* A call of an interpreter. */
struct sampler_call {
	uint64_t code; /* address of its code object */
	const char *function;
	const char *file;
	uint32_t line; /* 0: unknown */
};

struct sampler_config {
	uint32_t depth;
	bool frame_pointers; /* follow only frame pointers, no tables */
	unsigned int flags;  /* of stopper.h */
	int (*taken)(void *self, const struct stack_sample *sample, struct error *err);
	/*
	 * The rest is optional. kernel_address returns the start of a kernel function, or 0; with
	 * it, samples have kernel frames, which needs STOPPER_STATES.
	 */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	struct interpreters *interpreters; /* their calls are read too */
	/*
	 * In place of that: the sampler finds interpreters itself, and samples have their calls in
	 * place of the interpreter's loop: see sampler_call().
	 */
	bool calls_in_place;
	bool calls_only; /* and no native frames */
	void (*started)(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid);
	void (*execed)(void *self, pid_t pid);
	void (*ended)(void *self, pid_t pid, pid_t tid);
	void (*remapped)(void *self, pid_t pid); /* its mappings were read again from /proc */
	void *self;
};

/*
 * What a frame of a sample refers to, if it is a call of an interpreter and no address. The texts
 * are valid until taken() returns. False: it is an address.
 */
bool sampler_call(const struct stack_sample *sample, uint32_t i, struct sampler_call *ret);

/* The caller releases *ret with sampler_close(). */
int sampler_open(const struct sampler_config *config, struct sampler **ret, struct error *err);
int sampler_attach_process(struct sampler *sampler, pid_t pid, struct error *err);
int sampler_attach_thread(struct sampler *sampler, pid_t pid, pid_t tid, struct error *err);

/* Takes the stacks of all threads now. Fails if taken() fails, or if nothing can be read. */
int sampler_round(struct sampler *sampler, struct error *err);
/* Call when the descriptor is readable. */
int sampler_pump(struct sampler *sampler, struct error *err);
int sampler_fd(const struct sampler *sampler);

size_t sampler_thread_count(const struct sampler *sampler); /* 0: all have ended */
const struct stop_times *sampler_times(const struct sampler *sampler);

/* As for a stopper: call before this program is stopped, and after. */
int sampler_suspend(struct sampler *sampler, struct error *err);
int sampler_resume(struct sampler *sampler, struct error *err);
void sampler_detach(struct sampler *sampler);
void sampler_close(struct sampler *sampler); /* NULL is fine */

#endif
