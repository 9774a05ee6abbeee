/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "import/perf_counters.h"
#include "import/perf_file.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/registers.h"
#include "process_stacks/stack_cache.h"
#include "process_stacks/user_stack.h"
#include "recording/format.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"

/* Large, because each change of event starts a new chunk of the recording. */
#define BATCH 4096u
#define WALK_DEPTH 1024u
/* The default depth limit of the kernel: kernel.perf_event_max_stack. */
#define USUAL_DEPTH 127u

/* Columns of pending samples of one event. */
struct batch {
	size_t count;
	uint32_t stack[BATCH];
	uint32_t thread[BATCH];
	uint32_t cpu[BATCH];
	uint64_t time_ns[BATCH];
	uint64_t weight[BATCH];
};

struct perf_samples {
	struct sink *sink;
	struct process_tracker *tracker;
	const struct perf_file *file;
	struct perf_counters counters; /* of members of groups */
	struct stack_cache *cache;
	bool foreign;
	bool by_frame_pointers; /* some stacks are */
	struct chain_frames frames;
	struct chain_walk walk;
	uint64_t chain[MAX_CHAIN];   /* of a sample whose chain is extended */
	VEC(struct batch *) batches; /* by schema; NULL: no sample yet */
};

struct perf_samples *perf_samples_new(struct sink *sink, struct process_tracker *tracker,
				      const struct perf_file *file)
{
	struct perf_samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->sink = sink;
	samples->tracker = tracker;
	samples->file = file;
	samples->frames.tracker = tracker;
	samples->walk.tracker = tracker;
	samples->walk.depth = WALK_DEPTH;
	samples->cache = stack_cache_new();
	if (!samples->cache) {
		free(samples);
		return NULL;
	}
	return samples;
}

void perf_samples_free(struct perf_samples *samples)
{
	if (!samples)
		return;
	stack_cache_free(samples->cache);
	for (size_t i = 0; i < samples->batches.count; i++)
		free(samples->batches.items[i]);
	vec_fini(&samples->batches);
	perf_counters_fini(&samples->counters);
	free(samples);
}

static int flush_batch(struct perf_samples *samples, uint32_t schema, struct error *err)
{
	struct batch *batch = samples->batches.items[schema];
	struct sample_batch columns;

	if (!batch || batch->count == 0)
		return 0;
	columns = (struct sample_batch){
		.schema = schema,
		.count = batch->count,
		.stack = batch->stack,
		.thread = batch->thread,
		.cpu = batch->cpu,
		.time_ns = batch->time_ns,
		.weight = batch->weight,
	};
	batch->count = 0;
	return sink_batch(samples->sink, &columns, err);
}

int perf_samples_flush(struct perf_samples *samples, struct error *err)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < samples->batches.count && r == 0; i++)
		r = flush_batch(samples, i, err);
	return r;
}

/* Where the next sample of an event is stored; NULL if out of memory. */
static struct batch *batch_of(struct perf_samples *samples, uint32_t schema)
{
	while (samples->batches.count <= schema)
		if (vec_push(&samples->batches, NULL) < 0)
			return NULL;
	if (!samples->batches.items[schema])
		samples->batches.items[schema] = calloc(1, sizeof(struct batch));
	return samples->batches.items[schema];
}

bool perf_samples_by_frame_pointers(const struct perf_samples *samples)
{
	return samples->by_frame_pointers;
}

void perf_samples_set_foreign(struct perf_samples *samples, bool foreign)
{
	samples->foreign = foreign;
}

/* An event without call chains has one address. */
static void chain_of_ip(struct perf_samples *samples, const struct perf_event_header *record,
			struct sample_record *sample)
{
	bool is_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	samples->chain[0] = is_kernel ? (uint64_t)PERF_CONTEXT_KERNEL : (uint64_t)PERF_CONTEXT_USER;
	samples->chain[1] = sample->ip;
	sample->chain = samples->chain;
	sample->count = 2;
}

/*
 * If a CPU keeps return addresses in a register, frame pointers do not give the caller of a leaf
 * without a frame. perf therefore adds that register to each sample; the unwind rule of the leaf
 * shows whether it still holds the caller.
 */
static uint64_t caller_of_leaf(struct perf_samples *samples, const struct perf_event *event,
			       const struct tracked_process *process,
			       const struct sample_record *sample, uint64_t leaf)
{
	uint64_t values[UNWIND_REGISTERS] = {0};
	uint64_t pcs[2];
	struct unwind_trace trace = {.pcs = pcs, .capacity = 2};
	struct user_stack stack = {.time_ns = sample->time_ns, .pc = leaf, .registers = values};

	if (!sample->registers || sample->is_32_bit ||
	    registers_link(event->attr.sample_regs_user, sample->registers, values) < 0)
		return 0;
	user_stack_walk(samples->tracker, process, &stack, &trace);
	return trace.count == 2 ? pcs[1] : 0;
}

/* Inserts the caller of the leaf if the chain lacks it. */
static void add_caller(struct perf_samples *samples, const struct perf_event *event,
		       const struct tracked_process *process, struct sample_record *sample)
{
	uint64_t at = 0;
	uint64_t caller;

	while (at < sample->count && sample->chain[at] != (uint64_t)PERF_CONTEXT_USER)
		at++;
	at += 2; /* after the mark and the leaf */
	if (at >= sample->count || sample->count >= MAX_CHAIN)
		return;
	caller = caller_of_leaf(samples, event, process, sample, sample->chain[at - 1]);
	if (caller == 0 || caller == sample->chain[at])
		return;
	memmove(samples->chain, sample->chain, at * sizeof(uint64_t));
	memcpy(samples->chain + at + 1, sample->chain + at,
	       (sample->count - at) * sizeof(uint64_t));
	samples->chain[at] = caller;
	sample->chain = samples->chain;
	sample->count++;
}

static uint32_t chain_depth(const struct perf_event *event)
{
	return event->attr.sample_max_stack > 0 ? event->attr.sample_max_stack : USUAL_DEPTH;
}

/* Completes the call chain of a sample with its other data. Returns whether it is cut. */
static bool complete_chain(struct perf_samples *samples, const struct perf_event *event,
			   struct tracked_process *process, const struct perf_event_header *record,
			   struct sample_record *sample)
{
	bool copied = event->attr.sample_type & PERF_SAMPLE_STACK_USER;
	bool truncated = chain_count_addresses(sample) >= chain_depth(event);

	if (samples->foreign && copied) {
		if (sample->count == 0)
			chain_of_ip(samples, record, sample);
		return true;
	}
	if (!copied) {
		if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			samples->by_frame_pointers = true;
		if (!samples->foreign)
			add_caller(samples, event, process, sample);
		return truncated;
	}
	samples->walk.register_mask = event->attr.sample_regs_user;
	samples->walk.chain_depth = chain_depth(event);
	(void)chain_walk_copy(&samples->walk, process, sample); /* the stack says it */
	return chain_is_cut(sample);
}

/* The stack of a sample, from the cache if it was seen before; ID_NONE if out of memory. */
static uint32_t stack_of(struct perf_samples *samples, const struct perf_event *event,
			 struct tracked_process *process, const struct perf_event_header *record,
			 struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	bool truncated = complete_chain(samples, event, process, record, sample);
	uint32_t id = stack_cache_find(samples->cache, context, sample->chain, sample->count);
	const struct frame *frames;
	size_t n;

	if (id != ID_NONE)
		return id;
	frames = chain_frames(&samples->frames, process, sample, truncated, &n);
	if (sink_stack(samples->sink, frames, n, &id) < 0)
		return ID_NONE;
	stack_cache_add(samples->cache, context, sample->chain, sample->count, id);
	return id;
}

/*
 * The number of events, nanoseconds for clocks: as the kernel reports it, else the requested
 * period.
 */
static uint64_t weight_of(const struct perf_event *event, const struct sample_record *sample)
{
	uint64_t weight = 1;

	if (event->attr.sample_type & PERF_SAMPLE_PERIOD)
		weight = sample->period;
	else if (!event->attr.freq)
		weight = event->attr.sample_period;
	return weight < INT64_MAX ? weight : INT64_MAX;
}

/* What is written for a sample. */
struct row {
	uint32_t stack;
	uint32_t thread;
	uint32_t cpu;
	uint64_t time_ns;
	uint64_t weight;
};

static int put_row(struct perf_samples *samples, uint32_t schema, const struct row *row,
		   struct error *err)
{
	struct batch *batch = batch_of(samples, schema);
	size_t i;

	if (!batch)
		return error_set(err, -ENOMEM, "out of memory");
	i = batch->count++;
	batch->stack[i] = row->stack;
	batch->thread[i] = row->thread;
	batch->cpu[i] = row->cpu;
	batch->time_ns[i] = row->time_ns;
	batch->weight[i] = row->weight < INT64_MAX ? row->weight : INT64_MAX;
	return batch->count < BATCH ? 0 : flush_batch(samples, schema, err);
}

/* The counts of the other members of the group since the last sample get the stack of this one. */
static int put_members(struct perf_samples *samples, const struct perf_event *event,
		       const struct sample_record *sample, struct row *row, struct error *err)
{
	uint64_t i;
	int r = 0;

	for (i = 0; sample->value_words > 1 && i < sample->value_count && r == 0; i++) {
		const uint64_t *words = sample->values + i * sample->value_words;
		const struct perf_event *member = perf_file_event_of(samples->file, words[1]);
		struct perf_counter now = {.id = words[1], .value = words[0]};

		/* The weight of the leader is its period. */
		if (!member || member->schema == event->schema)
			continue;
		if (event->attr.inherit)
			now.tid = (uint32_t)sample->tid;
		if (perf_counters_since(&samples->counters, &now, &row->weight) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		if (row->weight > 0)
			r = put_row(samples, member->schema, row, err);
	}
	return r;
}

int perf_samples_put(struct perf_samples *samples, const struct perf_event *event,
		     const struct perf_event_header *record, uint64_t time_ns, struct error *err)
{
	struct tracked_process *process;
	struct sample_record sample;
	struct row row = {.time_ns = time_ns};
	int r;

	if (!perf_record_sample(&event->layout, record, &sample) || sample.count > MAX_CHAIN)
		return 0;
	sample.time_ns = time_ns;
	if (!(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		chain_of_ip(samples, record, &sample);
	r = process_tracker_sample(samples->tracker, sample.pid, sample.tid, &process, &row.thread);
	row.stack = r < 0 ? ID_NONE : stack_of(samples, event, process, record, &sample);
	if (row.stack == ID_NONE)
		return error_set(err, -ENOMEM, "out of memory");
	row.cpu = sample.cpu < RECORDING_MAX_CPUS ? sample.cpu : 0;
	row.weight = weight_of(event, &sample);
	r = put_row(samples, event->schema, &row, err);
	if (r == 0)
		r = put_members(samples, event, &sample, &row, err);
	return r < 0 ? r : 1;
}
