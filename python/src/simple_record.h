/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_SIMPLE_RECORD_H
#define WICK_PYTHON_SIMPLE_RECORD_H

/*
 * simple_record: the fast path for adding blocks to the first table and removing them, used while
 * tracer.is_simple. It does the same as record.h. Every instruction here is executed millions of
 * times a second.
 */

#include "record.h"

static inline void simple_count(struct tracer_table *table, struct trace_site *site, int64_t size)
{
	int64_t bytes = atomic_load_explicit(&table->bytes, memory_order_relaxed) + size;
	int64_t all = bytes + atomic_load_explicit(&tracer.tables[TABLE_LOCKED].bytes,
						   memory_order_relaxed);

	atomic_store_explicit(&table->bytes, bytes, memory_order_relaxed);
	site->size += size;
	site->count++;
	if (__builtin_expect(all > atomic_load_explicit(&tracer.peak_bytes, memory_order_relaxed),
			     0))
		record_peak(all);
}

/* Returns whether the callers of the innermost frame are the same as in a site. */
static inline bool simple_callers_match(const struct tracer_table *table, uint32_t id,
					const version_frame *frame)
{
	const struct trace_node *nodes = table->sites.tree.nodes.items;
	const uint64_t *places = table->sites.tree.places.items;
	struct trace_node node = nodes[trace_site(&table->sites, id)->node];
	uint32_t calls = 1;

	for (; node.parent != 0; calls++) {
		node = nodes[node.parent];

		do
			frame = version_caller(frame);
		while (frame && version_is_mark(frame));
		if (!frame)
			return false;
		if (version_place(frame) != places[node.frame])
			return false;
	}
	if (calls == tracer.settings.calls_max)
		return true;
	do
		frame = version_caller(frame);
	while (frame && version_is_mark(frame));
	return !frame;
}

/* Returns the site that is cached for the running thread's frame if it matches, or TRACE_NONE. */
static inline uint32_t simple_site(struct tracer_table *table, const PyThreadState *thread)
{
	const version_frame *frame = version_top_frame(thread);
	const struct frame_memo *memo;
	uint64_t place;

	if (!frame || version_is_mark(frame))
		return TRACE_NONE;
	place = version_place(frame);
	memo = frame_memo(table->sites_of_frames, frame, place);
	if (!frame_memo_matches(memo, thread, frame, place))
		return TRACE_NONE;
	if (tracer.settings.calls_max > 1 && !simple_callers_match(table, memo->value, frame))
		return TRACE_NONE;
	return memo->value;
}

static inline uint32_t simple_or_walked_site(struct tracer_table *table, PyThreadState *thread)
{
	uint32_t site = simple_site(table, thread);

	return __builtin_expect(site == TRACE_NONE, 0) ? record_site(table, thread) : site;
}

static inline void record_simply(const void *start, size_t size)
{
	struct tracer_table *table = &tracer.tables[TABLE_GIL];
	struct trace_block block = {(uint64_t)(uintptr_t)start, size,
				    simple_or_walked_site(table, version_current_thread())};
	struct trace_block old;
	int r = trace_blocks_put(&table->blocks, &block, &old);

	if (__builtin_expect(r != 0, 0)) {
		struct trace_block copies[2] = {block, old};

		record_put(table, r, &copies[0], &copies[1]);
	} else
		simple_count(table, trace_site(&table->sites, block.site), (int64_t)size);
}

static inline void record_free_simply(const void *start)
{
	struct tracer_table *table = &tracer.tables[TABLE_GIL];
	struct trace_block block;
	struct trace_site *site;

	if (!trace_blocks_take(&table->blocks, (uint64_t)(uintptr_t)start, &block))
		return;
	site = trace_site(&table->sites, block.site);
	site->size -= (int64_t)block.size;
	site->count--;
	atomic_store_explicit(&table->bytes,
			      atomic_load_explicit(&table->bytes, memory_order_relaxed) -
				      (int64_t)block.size,
			      memory_order_relaxed);
}

/* The fast path of record_reuse(). */
static inline void record_reuse_simply(const void *object, const PyTypeObject *type)
{
	struct tracer_table *table = &tracer.tables[TABLE_GIL];
	uint64_t address = (uint64_t)(uintptr_t)object - version_header_bytes(type);
	trace_slot_word *slot = trace_blocks_known_slot(&table->blocks, address);
	uint32_t site;
	struct trace_site *from;
	struct trace_site *to;
	int64_t size;

	if (!slot)
		return;
	site = simple_or_walked_site(table, version_current_thread());
	if (site == trace_slot_site(*slot))
		return;
	size = (int64_t)(uint32_t)*slot;
	from = trace_site(&table->sites, trace_slot_site(*slot));
	to = trace_site(&table->sites, site);
	from->size -= size;
	from->count--;
	to->size += size;
	to->count++;
	*slot = trace_slot_make((uint32_t)(*slot >> 32), (uint64_t)size, site);
}

#endif
