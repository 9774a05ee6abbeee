/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/block_spans.h"

#include <stddef.h>

void heap_spans_fini(struct heap_spans *spans)
{
	vec_fini(&spans->items);
	id_index_fini(&spans->index);
}

static bool is_of(const struct heap_span *span, const struct heap_span *other)
{
	return span->share == other->share && span->born == other->born &&
	       span->died == other->died;
}

static void add_up(struct heap_span *span, const struct heap_span *more)
{
	span->sum.bytes += more->sum.bytes;
	span->sum.blocks += more->sum.blocks;
	span->temporary_blocks += more->temporary_blocks;
}

static void add(struct heap_spans *spans, const struct heap_span *more)
{
	uint64_t hash = hash_pair(more->share, (uint64_t)more->born << 32 | more->died);
	struct id_probe probe = id_index_probe(&spans->index, hash);
	uint32_t id;

	while ((id = id_probe_next(&spans->index, &probe)) != ID_NONE)
		if (is_of(&spans->items.items[id], more)) {
			add_up(&spans->items.items[id], more);
			spans->last = id;
			return;
		}
	spans->last = (uint32_t)spans->items.count;
	spans->failed = spans->failed || id_index_add(&spans->index, hash, spans->last) < 0 ||
			vec_push(&spans->items, *more) < 0;
}

/* Merges slices in pairs. */
static void double_slices(struct heap_spans *spans)
{
	size_t count = spans->items.count;

	spans->slice_ns *= 2;
	spans->items.count = 0;
	id_index_clear(&spans->index);
	for (size_t i = 0; i < count && !spans->failed; i++) { /* none moves towards the end */
		struct heap_span span = spans->items.items[i];

		span.born /= 2;
		if (span.died != HEAP_SPANS_LIVE)
			span.died /= 2;
		add(spans, &span);
	}
}

void heap_spans_lengthen(struct heap_spans *spans, uint64_t slice_ns)
{
	while (spans->slice_ns > 0 && spans->slice_ns < slice_ns && !spans->failed)
		double_slices(spans);
}

void heap_spans_add(struct heap_spans *spans, uint32_t share, uint64_t born_ns, uint64_t died_ns,
		    struct heap_sum sum, double temporary_blocks)
{
	uint64_t last_ns = died_ns == UINT64_MAX ? born_ns : died_ns;
	struct heap_span span = {.share = share, .sum = sum, .temporary_blocks = temporary_blocks};

	if (spans->slice_ns == 0 || spans->failed)
		return;
	while (last_ns / spans->slice_ns >= HEAP_SPANS_SLICES && !spans->failed)
		double_slices(spans);
	if (born_ns > last_ns) /* because of clock skew between CPUs */
		born_ns = last_ns;
	span.born = (uint32_t)(born_ns / spans->slice_ns);
	span.died = died_ns == UINT64_MAX ? HEAP_SPANS_LIVE : (uint32_t)(died_ns / spans->slice_ns);
	if (spans->last < spans->items.count && is_of(&spans->items.items[spans->last], &span)) {
		add_up(&spans->items.items[spans->last], &span);
		return;
	}
	add(spans, &span);
	if (spans->items.count > HEAP_SPANS_LIMIT &&
	    last_ns / spans->slice_ns >= HEAP_SPANS_FEWEST_SLICES)
		double_slices(spans);
}
