/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_sample.h"

#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "engine/perf/perf_engine.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "unwind/walk.h"

static int flush_columns(struct perf_engine *engine, struct perf_columns *columns,
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
	return batch.count == 0 ? 0 : sink_batch(engine->sink, &batch, err);
}

int perf_flush(struct perf_engine *engine, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(engine->columns) && r == 0; i++)
		r = flush_columns(engine, &engine->columns[i], err);
	return r;
}

bool perf_is_truncated(const struct perf_engine *engine, const struct sample_record *sample)
{
	return engine->copies || engine->walker
		       ? chain_is_cut(sample)
		       : chain_count_addresses(sample) >= engine->grant.depth;
}

void perf_note_stack(struct perf_engine *engine, const struct sample_record *sample)
{
	engine->facts.frames = (uint32_t)chain_count_addresses(sample);
	engine->facts.cut = perf_is_truncated(engine, sample);
}

void perf_count_stack(struct perf_engine *engine, const struct stack_facts *facts)
{
	engine->stats.frames += facts->frames;
	engine->stats.truncated += facts->cut;
	engine->stats.slices += facts->outside;
	if (facts->end >= UNWIND_ROOT)
		engine->stats.ends[facts->end - UNWIND_ROOT]++;
}

const struct frame *perf_frames_of(struct perf_engine *engine, struct tracked_process *process,
				   const struct sample_record *sample, size_t *ret_count)
{
	engine->frames.tracker = engine->tracker;
	/* Of who only wakes others we do not hear all that is mapped. */
	engine->frames.partial = engine->partial || engine->wakers;
	return chain_frames(&engine->frames, process, sample, perf_is_truncated(engine, sample),
			    ret_count);
}

uint32_t perf_stack_of(struct perf_engine *engine, struct tracked_process *process,
		       const struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	uint32_t id = stack_cache_find(engine->cache, context, sample->chain, sample->count);
	const struct frame *frames;
	size_t count;

	perf_note_stack(engine, sample);
	if (id != ID_NONE)
		return id;
	frames = perf_frames_of(engine, process, sample, &count);
	if (sink_stack(engine->sink, frames, count, &id) < 0)
		return ID_NONE;
	stack_cache_add(engine->cache, context, sample->chain, sample->count, id);
	return id;
}

int perf_lose_sample(struct perf_engine *engine, uint64_t time_ns)
{
	engine->stats.lost++;
	return sink_loss(engine->sink, LOSS_NO_MEMORY, time_ns, 1);
}

static int put_row(struct perf_engine *engine, struct perf_columns *columns,
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
	return columns->count == BATCH ? flush_columns(engine, columns, err) : 0;
}

int perf_put_sample(struct perf_engine *engine, const struct sample_row *row, struct error *err)
{
	if (row->stack == ID_NONE)
		return perf_lose_sample(engine, row->time_ns);
	engine->stats.samples++;
	return put_row(engine, &engine->columns[0], row, err);
}

int perf_put_counts(struct perf_engine *engine, const struct sample_row *row, pid_t tid,
		    const struct sample_record *sample, struct error *err)
{
	size_t count = engine->group.member_count;
	uint64_t values[EVENT_MEMBERS_MAX];
	struct sample_row counted = *row;
	int r;

	/* The leader's own stands first. */
	if (row->stack == ID_NONE || count == 0 || sample->value_count != count + 1)
		return 0;
	memcpy(values, sample->values + 1, count * sizeof(*values));
	r = counters_since(&engine->counters, tid, row->cpu, values, count);
	if (r < 0)
		return perf_lose_sample(engine, row->time_ns);
	for (size_t i = 0; i < count && r == 0; i++) {
		counted.weight = values[i];
		if (values[i] > 0)
			r = put_row(engine, &engine->columns[1 + i], &counted, err);
	}
	return r;
}
