/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_SAMPLE_H
#define WICK_ENGINE_PERF_PERF_SAMPLE_H

/*
 * perf_sample: from the chain of a sample to a stack of the sink, and samples to
 * the sink in batches.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct frame;
struct perf_engine;
struct sample_record;
struct stack_facts;
struct tracked_process;

/* One sample; stack ID_NONE: it could not be kept. */
struct sample_row {
	uint32_t stack;
	uint32_t thread;
	uint32_t cpu;
	uint32_t labels;
	uint64_t time_ns;
	uint64_t weight;
	uint64_t times; /* how many it stands for; 0: one */
};

/* Whether the stack goes on beyond what is there of it. */
bool perf_is_truncated(const struct perf_engine *engine, const struct sample_record *sample);

/* The frames of a sample, the root first. They are valid until the next call. */
const struct frame *perf_frames_of(struct perf_engine *engine, struct tracked_process *process,
				   const struct sample_record *sample, size_t *ret_count);

/* Notes what a stack is like that was read, beside how its walk ended; and counts that. */
void perf_note_stack(struct perf_engine *engine, const struct sample_record *sample);
void perf_count_stack(struct perf_engine *engine, const struct stack_facts *facts);

/* The stack of a sample, ID_NONE without memory: from the cache when it was seen before. */
uint32_t perf_stack_of(struct perf_engine *engine, struct tracked_process *process,
		       const struct sample_record *sample);

int perf_put_sample(struct perf_engine *engine, const struct sample_row *row, struct error *err);
/*
 * Puts what the members of the group have counted since the last sample of a thread, or
 * of a CPU with 0, for the sample of the row. 0 or a negative errno.
 */
int perf_put_counts(struct perf_engine *engine, const struct sample_row *row, pid_t tid,
		    const struct sample_record *sample, struct error *err);
int perf_lose_sample(struct perf_engine *engine, uint64_t time_ns); /* we could not keep it */
int perf_flush(struct perf_engine *engine, struct error *err);

#endif
