/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_sample.h"

#include "base/error.h"
#include "base/id_index.h"
#include "engine/perf/state.h"
#include "model/sink.h"
#include "track/chain.h"
#include "track/process_tracker.h"
#include "track/record.h"
#include "track/stack_cache.h"

int perf_flush(struct perf_engine *engine, struct error *err)
{
	struct sample_batch batch = {
		.schema = engine->schema,
		.count = engine->count,
		.stack = engine->stack,
		.thread = engine->thread,
		.cpu = engine->cpu,
		.labels = engine->labels,
		.time_ns = engine->time_ns,
		.weight = engine->weight,
	};

	engine->count = 0;
	return batch.count == 0 ? 0 : engine->sink->ops->batch(engine->sink->self, &batch, err);
}

/* Interns a chain (leaf first, with marks) as a stack, root first. */
static uint32_t intern_chain(struct perf_engine *engine, struct tracked_process *process,
			     const struct sample_record *sample, bool truncated)
{
	const struct frame *frames;
	uint32_t id;
	size_t n;

	engine->frames.tracker = engine->tracker;
	engine->frames.partial = engine->partial;
	frames = chain_frames(&engine->frames, process, sample, truncated, &n);
	return engine->sink->ops->stack(engine->sink->self, frames, n, &id) < 0 ? ID_NONE : id;
}

uint32_t perf_stack_of(struct perf_engine *engine, struct tracked_process *process,
		       const struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	uint64_t addresses = chain_count_addresses(sample);
	bool truncated = engine->copies || engine->walker ? chain_is_cut(sample)
							  : addresses >= engine->grant.depth;
	uint32_t id = stack_cache_find(engine->cache, context, sample->chain, sample->count);

	engine->stats.frames += addresses;
	engine->stats.truncated += truncated;
	if (id != ID_NONE)
		return id;
	id = intern_chain(engine, process, sample, truncated);
	if (id != ID_NONE)
		stack_cache_add(engine->cache, context, sample->chain, sample->count, id);
	return id;
}

int perf_lose_sample(struct perf_engine *engine, uint64_t time_ns)
{
	engine->stats.lost++;
	return engine->sink->ops->loss(engine->sink->self, LOSS_NO_MEMORY, time_ns, 1);
}

int perf_put_sample(struct perf_engine *engine, const struct sample_row *row, struct error *err)
{
	size_t i = engine->count;

	if (row->stack == ID_NONE)
		return perf_lose_sample(engine, row->time_ns);
	engine->stats.samples++;
	engine->stack[i] = row->stack;
	engine->thread[i] = row->thread;
	engine->cpu[i] = row->cpu;
	engine->labels[i] = row->labels;
	engine->time_ns[i] = row->time_ns;
	engine->weight[i] = row->weight;
	engine->count++;
	return engine->count == BATCH ? perf_flush(engine, err) : 0;
}
