/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_sample.h"

#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "engine/perf/record.h"
#include "engine/perf/state.h"
#include "engine/process_tracker.h"
#include "engine/stack_cache.h"
#include "model/sink.h"

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
	};

	columns->count = 0;
	return batch.count == 0 ? 0 : engine->sink->ops->batch(engine->sink->self, &batch, err);
}

int perf_flush(struct perf_engine *engine, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(engine->columns) && r == 0; i++)
		r = flush_columns(engine, &engine->columns[i], err);
	return r;
}

uint64_t perf_count_addresses(const struct sample_record *sample)
{
	uint64_t n = 0;
	uint64_t i;

	for (i = 0; i < sample->count; i++)
		n += !perf_is_mark(sample->chain[i]);
	return n;
}

static bool is_cut(const struct sample_record *sample)
{
	return sample->count > 0 && sample->chain[sample->count - 1] == PERF_MARK_CUT;
}

/*
 * The frame of a user address. Of a process whose other threads are not watched, or that
 * only wakes others, we do not hear all that it maps: an address of no module is looked
 * up in /proc.
 */
static struct frame user_frame(struct perf_engine *engine, struct tracked_process *process,
			       uint64_t time_ns, uint64_t address)
{
	struct frame frame = tracked_process_frame(process, time_ns, address);

	if (frame.a == MODULE_NONE && (engine->partial || engine->wakers) &&
	    process_tracker_refresh(engine->tracker, process, time_ns))
		frame = tracked_process_frame(process, time_ns, address);
	return frame;
}

bool perf_is_truncated(const struct perf_engine *engine, const struct sample_record *sample)
{
	return engine->copies || engine->walker
		       ? is_cut(sample)
		       : perf_count_addresses(sample) >= engine->grant.depth;
}

/* From a chain, which is leaf first, with marks. */
const struct frame *perf_frames_of(struct perf_engine *engine, struct tracked_process *process,
				   const struct sample_record *sample, size_t *ret_count)
{
	struct frame *place = engine->frames + MAX_CHAIN + 1;
	uint64_t mark = (uint64_t)PERF_CONTEXT_USER;
	uint64_t i;

	for (i = 0; i < sample->count && place > engine->frames + 1; i++) {
		uint64_t entry = sample->chain[i];

		if (perf_is_mark(entry)) {
			mark = entry;
			continue;
		}
		if (entry == 0)
			continue; /* the end that some walks run into */
		*--place = mark == (uint64_t)PERF_CONTEXT_KERNEL
				   ? process_tracker_kernel_frame(engine->tracker, entry)
				   : user_frame(engine, process, sample->time_ns, entry);
	}
	/* The walk goes from the leaf to the root, so the last written is the root. */
	if (perf_is_truncated(engine, sample))
		*--place = (struct frame){.kind = FRAME_TRUNCATED};
	*ret_count = (size_t)(engine->frames + MAX_CHAIN + 1 - place);
	return place;
}

uint32_t perf_stack_of(struct perf_engine *engine, struct tracked_process *process,
		       const struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	uint32_t id = stack_cache_find(engine->cache, context, sample->chain, sample->count);
	const struct frame *frames;
	size_t count;

	engine->stats.frames += perf_count_addresses(sample);
	engine->stats.truncated += perf_is_truncated(engine, sample);
	if (id != ID_NONE)
		return id;
	frames = perf_frames_of(engine, process, sample, &count);
	if (engine->sink->ops->stack(engine->sink->self, frames, count, &id) < 0)
		return ID_NONE;
	stack_cache_add(engine->cache, context, sample->chain, sample->count, id);
	return id;
}

int perf_lose_sample(struct perf_engine *engine, uint64_t time_ns)
{
	engine->stats.lost++;
	return engine->sink->ops->loss(engine->sink->self, LOSS_NO_MEMORY, time_ns, 1);
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
