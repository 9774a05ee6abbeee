/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_sample.h"

#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "language/language.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "unwind/walk.h"

static int flush_columns(struct sample_output *output, struct perf_columns *columns,
			 struct error *err)
{
	struct sample_batch batch = {
		.schema = columns->schema,
		.count = columns->count,
		.stack = columns->stack,
		.thread = columns->thread,
		.cpu = columns->cpu,
		.labels = columns->labels,
		.time_ns = columns->time_ns,
		.weight = columns->weight,
		.times = columns->times,
	};

	columns->count = 0;
	return batch.count == 0 ? 0 : sink_batch(output->sink, &batch, err);
}

int perf_flush(struct sample_output *output, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(output->columns) && r == 0; i++)
		r = flush_columns(output, &output->columns[i], err);
	return r;
}

bool perf_is_truncated(const struct sample_output *output, const struct sample_record *sample)
{
	return output->marks_cuts ? chain_is_cut(sample)
				  : chain_count_addresses(sample) >= output->chain_depth;
}

void perf_note_stack(struct sample_output *output, const struct sample_record *sample)
{
	output->facts.frames = (uint32_t)chain_count_addresses(sample);
	output->facts.cut = perf_is_truncated(output, sample);
	output->facts.calls =
		chain_has_calls(&output->frames, sample) ? STACK_CALLS_NAMED : STACK_CALLS_NONE;
	output->facts.holds = chain_holds_lock(&output->frames, sample);
}

void perf_count_stack(struct sample_output *output, const struct stack_facts *facts)
{
	/* The sample is put next. */
	output->left_out = output->holders_only && !facts->holds;
	if (output->left_out)
		return;
	output->stats.stacks.frames += facts->frames;
	output->stats.stacks.truncated += facts->cut;
	output->stats.stacks.slices += facts->outside;
	output->stats.python.samples += facts->calls == STACK_CALLS_NAMED;
	output->stats.python.unnamed += facts->calls == STACK_CALLS_UNNAMED;
	if (facts->end >= UNWIND_ROOT)
		output->stats.stacks.ends[facts->end - UNWIND_ROOT]++;
}

const struct frame *perf_frames_of(struct sample_output *output, struct tracked_process *process,
				   const struct sample_record *sample, size_t *ret_count)
{
	output->frames.tracker = output->tracker;
	return chain_frames(&output->frames, process, sample, perf_is_truncated(output, sample),
			    ret_count);
}

/* What the addresses of a sample, and the calls of an interpreter, refer to. */
static uint64_t context_of(const struct sample_output *output,
			   const struct tracked_process *process,
			   const struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	const struct interpreter *interpreter;

	if (!chain_has_calls(&output->frames, sample))
		return context;
	interpreter = interpreters_of(output->frames.interpreters, tracked_process_number(process));
	return interpreter ? hash_pair(context, interpreter_generation(interpreter)) : context;
}

uint32_t perf_stack_of(struct sample_output *output, struct tracked_process *process,
		       const struct sample_record *sample)
{
	uint64_t context = context_of(output, process, sample);
	uint32_t id = stack_cache_find(output->cache, context, sample->chain, sample->count);
	const struct frame *frames;
	size_t count;

	perf_note_stack(output, sample);
	if (id != ID_NONE)
		return id;
	frames = perf_frames_of(output, process, sample, &count);
	if (sink_stack(output->sink, frames, count, &id) < 0)
		return ID_NONE;
	if (output->frames.unnamed)
		output->facts.calls = STACK_CALLS_UNNAMED; /* they may be known next time */
	else
		stack_cache_add(output->cache, context, sample->chain, sample->count, id);
	return id;
}

int perf_lose_sample(struct sample_output *output, uint64_t time_ns)
{
	output->stats.samples.lost++;
	return sink_loss(output->sink, LOSS_NO_MEMORY, time_ns, 1);
}

static int put_row(struct sample_output *output, struct perf_columns *columns,
		   const struct sample_row *row, struct error *err)
{
	size_t i = columns->count;

	columns->stack[i] = row->stack;
	columns->thread[i] = row->thread;
	columns->cpu[i] = row->cpu;
	columns->labels[i] = row->labels;
	columns->time_ns[i] = row->time_ns;
	columns->weight[i] = row->weight;
	columns->times[i] = row->times;
	columns->count++;
	return columns->count == SAMPLE_BATCH ? flush_columns(output, columns, err) : 0;
}

int perf_put_sample(struct sample_output *output, const struct sample_row *row, struct error *err)
{
	if (row->stack == ID_NONE)
		return perf_lose_sample(output, row->time_ns);
	if (output->left_out) {
		output->stats.python.others++;
		return 0;
	}
	output->stats.samples.count++;
	return put_row(output, &output->columns[0], row, err);
}

int perf_put_counts(struct sample_output *output, const struct sample_row *row, pid_t tid,
		    const struct sample_record *sample, struct error *err)
{
	size_t count = output->member_count;
	uint64_t values[EVENT_MEMBERS_MAX];
	struct sample_row counted = *row;
	int r;

	/* The leader's own count comes first. */
	if (row->stack == ID_NONE || output->left_out || count == 0 ||
	    sample->value_count != count + 1)
		return 0;
	memcpy(values, sample->values + 1, count * sizeof(*values));
	r = counters_since(&output->counters, tid, row->cpu, values, count);
	if (r < 0)
		return perf_lose_sample(output, row->time_ns);
	for (size_t i = 0; i < count && r == 0; i++) {
		counted.weight = values[i];
		if (values[i] > 0)
			r = put_row(output, &output->columns[1 + i], &counted, err);
	}
	return r;
}
