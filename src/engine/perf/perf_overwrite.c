/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_overwrite.h"

#include "base/clock.h"
#include "engine/perf/overwrite_ring.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/perf_programs.h"
#include "model/sink.h"

static int lose(struct perf_engine *engine, uint64_t samples)
{
	if (samples == 0)
		return 0;
	engine->output.stats.samples.lost += samples;
	return sink_loss(engine->output.sink, LOSS_RING_FULL, clock_monotonic_ns(), samples);
}

/* Programs count each sample that they take, but not waits off the CPU. */
static bool is_numbered(const struct perf_engine *engine)
{
	return engine->programs && !engine->away;
}

int perf_overwrite_take(struct perf_engine *engine)
{
	int r = 0;

	for (size_t i = 0; i < engine->rings.count && r == 0; i++) {
		struct cpu_ring *ring = &engine->rings.items[i];
		uint64_t lost = ring->over.base ? overwrite_ring_take(&ring->over, &ring->ring) : 0;

		if (!is_numbered(engine))
			r = lose(engine, lost);
	}
	return r;
}

int perf_overwrite_count(struct perf_engine *engine, bool last)
{
	struct perf_programs_counts counts;
	uint64_t made = engine->made;
	uint64_t known = engine->output.stats.samples.count + engine->output.stats.samples.lost -
			 engine->side_lost;

	if (!is_numbered(engine))
		return 0;
	perf_programs_count(engine->programs, &counts, NULL);
	engine->made = counts.samples;
	/*
	 * A sample that was just counted may not be written yet: until then the previous count is
	 * used.
	 */
	if (last)
		made = engine->made;
	for (size_t i = 0; i < engine->rings.count; i++)
		if (engine->rings.items[i].over.base)
			known += overwrite_ring_pending(&engine->rings.items[i].ring);
	return lose(engine, made > known ? made - known : 0);
}

bool perf_overwrite_knows_lost(struct perf_engine *engine, const struct cpu_ring *ring,
			       uint64_t lost)
{
	if (ring->side)
		engine->side_lost += lost;
	return ring->over.base && is_numbered(engine);
}
