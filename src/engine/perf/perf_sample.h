/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_SAMPLE_H
#define WICK_ENGINE_PERF_PERF_SAMPLE_H

/*
 * perf_sample: turns the chain of a sample into a stack of the sink, and hands samples to
 * the sink in batches. It does not know where samples come from.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine_stats.h"
#include "engine/perf/counters.h"
#include "engine/perf/event_group.h"
#include "engine/perf/stack_facts.h"
#include "process_stacks/chain.h"

struct error;
struct process_tracker;
struct sample_record;
struct sink;
struct stack_cache;
struct tracked_process;

#define SAMPLE_BATCH 512u

/* One sample; stack ID_NONE: it could not be kept. */
struct sample_row {
	uint32_t stack;
	uint32_t thread;
	uint32_t cpu;
	uint32_t labels;
	uint64_t time_ns;
	uint64_t weight;
	uint64_t times; /* how many samples it represents; 0: one */
};

/* A batch that is being filled. */
struct perf_columns {
	uint32_t schema;
	size_t count;
	uint32_t stack[SAMPLE_BATCH];
	uint32_t thread[SAMPLE_BATCH];
	uint32_t cpu[SAMPLE_BATCH];
	uint32_t labels[SAMPLE_BATCH];
	uint64_t time_ns[SAMPLE_BATCH];
	uint64_t weight[SAMPLE_BATCH];
	uint64_t times[SAMPLE_BATCH];
};

/* Where the samples of an engine go, and what is needed to make and count them. */
struct sample_output {
	struct sink *sink;
	struct process_tracker *tracker;
	struct stack_cache *cache;
	struct engine_stats stats;
	uint32_t labels;          /* label set of samples on a CPU; 0: none */
	uint32_t chain_depth;     /* where the kernel's own walk stops */
	bool marks_cuts;          /* cut chains have a mark; else they are chain_depth long */
	size_t member_count;      /* of the group of events, without the leader */
	struct counters counters; /* of these members */
	struct stack_facts facts; /* of the stack that was read last */
	bool holders_only;        /* leave out threads that do not hold their interpreter's lock */
	bool left_out;            /* the sample of the facts that were counted last */
	struct chain_frames frames;
	struct perf_columns columns[1 + EVENT_MEMBERS_MAX]; /* of the event and of the members */
};

/* Whether the stack continues beyond the end of the chain. */
bool perf_is_truncated(const struct sample_output *output, const struct sample_record *sample);

/* The frames of a sample, the root first. They are valid until the next call. */
const struct frame *perf_frames_of(struct sample_output *output, struct tracked_process *process,
				   const struct sample_record *sample, size_t *ret_count);

/* Completes output->facts for a stack that was read: all but how its walk ended. */
void perf_note_stack(struct sample_output *output, const struct sample_record *sample);
/* Adds the facts of a stack to the statistics. */
void perf_count_stack(struct sample_output *output, const struct stack_facts *facts);

/* The id of a sample's stack, from the cache if it was seen before; ID_NONE: out of memory. */
uint32_t perf_stack_of(struct sample_output *output, struct tracked_process *process,
		       const struct sample_record *sample);

int perf_put_sample(struct sample_output *output, const struct sample_row *row, struct error *err);
/*
 * Puts what the members of the group have counted since the last sample of a thread (0: of
 * the CPU), for the sample of the row. 0 or a negative errno.
 */
int perf_put_counts(struct sample_output *output, const struct sample_row *row, pid_t tid,
		    const struct sample_record *sample, struct error *err);
/* Counts a sample that could not be kept. */
int perf_lose_sample(struct sample_output *output, uint64_t time_ns);
/* Hands all batches to the sink. */
int perf_flush(struct sample_output *output, struct error *err);

#endif
