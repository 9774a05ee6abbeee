/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_SAMPLE_CALLS_H
#define WICK_ENGINE_PERF_SAMPLE_CALLS_H

/*
 * sample_calls: the calls of interpreters, read from the memory of a process right after a sample
 * was taken of it, and kept until the sample is drained.
 *
 * Threads: one thread for each ring reads calls (see call_reader.h), and the thread that drives
 * the engine takes them and follows processes. A lock protects what they share. A reader does not
 * wait for it for long, because calls are worthless when they are late.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine_python_stats;
struct interpreters;
struct map_region;
struct process_tracker;
struct sample_calls;
struct sample_record;
struct tracked_process;

/* The calls of one sample. */
struct read_calls {
	uint64_t position;   /* of the sample in its ring */
	uint64_t generation; /* of the words: see language.h */
	uint32_t number;     /* of the process */
	uint32_t count;      /* of words; 0: they could not be read */
	const uint64_t *words;
};

/*
 * For some number of rings. why_not: calls are not read, and the statistics say so; NULL: they are.
 * NULL if out of memory.
 */
struct sample_calls *sample_calls_new(size_t rings, uint64_t register_mask, uint32_t depth,
				      const char *why_not);
void sample_calls_free(struct sample_calls *calls); /* no reader may use it any more */

/* Threads get the names that interpreted programs gave them; without memory, the kernel's. */
void sample_calls_name_threads(struct sample_calls *calls, struct process_tracker *tracker);

/*
 * For readers. Reads the calls of a sample. False if the process is not known yet: the engine
 * should drain its rings soon.
 */
bool sample_calls_read(struct sample_calls *calls, size_t ring, uint64_t position,
		       const struct sample_record *sample);

/*
 * For the engine; all accept NULL and do nothing. A process is seen, or maps something. Returns
 * whether it has an interpreter.
 */
bool sample_calls_meet(struct sample_calls *calls, const struct tracked_process *process);
void sample_calls_map(struct sample_calls *calls, const struct tracked_process *process,
		      const struct map_region *region);
void sample_calls_fork(struct sample_calls *calls, const struct tracked_process *child,
		       const struct tracked_process *parent);
/* A process has ended, or runs another program; a thread has ended. */
void sample_calls_forget(struct sample_calls *calls, pid_t pid);
void sample_calls_forget_thread(struct sample_calls *calls, pid_t tid);

/* Makes available what was read so far, before a drain. */
void sample_calls_collect(struct sample_calls *calls);
/* The calls of a sample of a ring; positions must not decrease. NULL: nothing was read. */
const struct read_calls *sample_calls_take(struct sample_calls *calls, size_t ring,
					   uint64_t position);

/* While words are named. */
void sample_calls_lock(struct sample_calls *calls);
void sample_calls_unlock(struct sample_calls *calls);
struct interpreters *sample_calls_interpreters(struct sample_calls *calls);

/* Fills in what is known about interpreters; samples are already counted. NULL is fine. */
void sample_calls_stats(struct sample_calls *calls, struct engine_python_stats *ret);
/* How long the watched threads had to wait for reads. */
uint64_t sample_calls_cost_ns(const struct sample_calls *calls);

/* Whether any process has an interpreter whose calls can be read. */
bool sample_calls_wanted(const struct sample_calls *calls);

#endif
