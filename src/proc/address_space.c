/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "model/entity.h"

/*
 * The latest state is a sorted array; the starts are separate so that a search touches few cache
 * lines. History is a log: change i has the span of addresses it touched, what was there before and
 * what was put there.
 *
 *	times      t0    t1    t2    t3    t4
 *	spans      s0    s1    s2    s3    s4       latest state
 *	checkpoints         ^ state after 2 changes
 *
 * What an address meant at time T: of the changes later than T, the first whose span contains the
 * address has it among its "before" regions. If there is none up to the next checkpoint, that
 * checkpoint (or the latest state) has the answer. Or, the other way round: of the changes up to T,
 * the last whose span contains it has what was put there; if there is none, the previous checkpoint
 * has the answer. The nearer checkpoint is used. Nothing is rebuilt, so resolving needs no memory,
 * no lock and no cache.
 */

struct snapshot {
	size_t refs;
	size_t count;
	size_t capacity;
	uint64_t *starts;
	struct address_region *regions;
};

struct span {
	uint64_t start;
	uint64_t end;
};

struct checkpoint {
	size_t changes; /* the number of changes it includes */
	struct snapshot *state;
};

struct address_space {
	struct snapshot *now;
	uint64_t generation;
	VEC(uint64_t) times; /* never decreasing */
	VEC(struct span) spans;
	VEC(size_t) firsts; /* of each change's regions in before */
	VEC(struct address_region) before;
	VEC(struct address_region) puts; /* empty regions where nothing was put */
	VEC(struct checkpoint) checkpoints;
};

/* A checkpoint of n regions every n / 16 changes costs 16 regions for a change. */
#define CHECKPOINT_MIN_CHANGES 64
#define CHECKPOINT_SHARE 16

/* Changes that a search in the past checks together. */
#define SCAN_BLOCK 16

static void snapshot_unref(struct snapshot *snapshot)
{
	if (!snapshot || --snapshot->refs > 0)
		return;
	free(snapshot->starts);
	free(snapshot->regions);
	free(snapshot);
}

static void scope_release_snapshot(struct snapshot **place)
{
	snapshot_unref(*place);
}

static struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
	snapshot->refs++;
	return snapshot;
}

static struct snapshot *snapshot_new(void)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (snapshot)
		snapshot->refs = 1;
	return snapshot;
}

static int snapshot_reserve(struct snapshot *snapshot, size_t want)
{
	size_t capacity = snapshot->capacity;

	if (want <= capacity)
		return 0;
	snapshot->starts = vec_grow(snapshot->starts, &capacity, want, sizeof(uint64_t));
	if (capacity < want)
		return -ENOMEM;
	/* Both arrays grow from the same capacity and so by the same step. */
	snapshot->regions = vec_grow(snapshot->regions, &snapshot->capacity, want,
				     sizeof(struct address_region));
	return snapshot->capacity < want ? -ENOMEM : 0;
}

static struct snapshot *snapshot_copy(const struct snapshot *from)
{
	SCOPED(snapshot) struct snapshot *copy = snapshot_new();

	/* A copy is made to be changed: room for a few changes avoids growing it by half. */
	if (!copy || snapshot_reserve(copy, from->count + from->count / CHECKPOINT_SHARE + 4) < 0)
		return NULL;
	if (from->count) {
		memcpy(copy->starts, from->starts, from->count * sizeof(*copy->starts));
		memcpy(copy->regions, from->regions, from->count * sizeof(*copy->regions));
	}
	copy->count = from->count;
	return scope_take(&copy);
}

/* How many starts are at most address. The step has no branch to predict. */
static inline size_t count_at_most(const uint64_t *starts, size_t count, uint64_t address)
{
	const uint64_t *base = starts;

	if (count == 0)
		return 0;
	while (count > 1) {
		size_t half = count / 2;

		base += (size_t)(base[half] <= address) * half;
		count -= half;
	}
	return (size_t)(base - starts) + (*base <= address);
}

static inline const struct address_region *snapshot_find(const struct snapshot *snapshot,
							 uint64_t address)
{
	size_t n = count_at_most(snapshot->starts, snapshot->count, address);

	if (n == 0 || address >= snapshot->regions[n - 1].end)
		return NULL;
	return &snapshot->regions[n - 1];
}

/* The indices of the regions that overlap a span. */
static void snapshot_overlap(const struct snapshot *snapshot, struct span span, size_t *ret_first,
			     size_t *ret_last)
{
	size_t first = count_at_most(snapshot->starts, snapshot->count, span.start);

	if (first > 0 && snapshot->regions[first - 1].end > span.start)
		first--;
	*ret_first = first;
	*ret_last = count_at_most(snapshot->starts, snapshot->count, span.end - 1);
	if (*ret_last < first)
		*ret_last = first;
}

/*
 * Replaces what is in the span by n regions within it, and cuts the regions that extend over its
 * ends. The snapshot is not shared.
 */
static int snapshot_replace(struct snapshot *snapshot, struct span span,
			    const struct address_region *put, size_t n)
{
	struct address_region left = {0};
	struct address_region right = {0};
	bool keep_left = false;
	bool keep_right = false;
	size_t first;
	size_t last;

	snapshot_overlap(snapshot, span, &first, &last);
	if (first < last) {
		left = snapshot->regions[first];
		right = snapshot->regions[last - 1];
		keep_left = left.start < span.start;
		keep_right = right.end > span.end;
		left.end = span.start;
		right.start = span.end;
	}
	size_t fresh = n + keep_left + keep_right;
	if (snapshot_reserve(snapshot, snapshot->count - (last - first) + fresh) < 0)
		return -ENOMEM;
	struct address_region *regions = snapshot->regions;
	size_t tail = snapshot->count - last;
	if (tail) {
		memmove(regions + first + fresh, regions + last, tail * sizeof(*regions));
		memmove(snapshot->starts + first + fresh, snapshot->starts + last,
			tail * sizeof(*snapshot->starts));
	}
	size_t at = first;
	if (keep_left)
		regions[at++] = left;
	for (size_t i = 0; i < n; i++)
		regions[at++] = put[i];
	if (keep_right)
		regions[at++] = right;
	for (size_t i = first; i < at; i++)
		snapshot->starts[i] = regions[i].start;
	snapshot->count = at + tail;
	return 0;
}

struct address_space *address_space_new(void)
{
	SCOPED(mem) struct address_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->now = snapshot_new();
	return space->now ? scope_take(&space) : NULL;
}

void address_space_free(struct address_space *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->checkpoints.count; i++)
		snapshot_unref(space->checkpoints.items[i].state);
	snapshot_unref(space->now);
	vec_fini(&space->times);
	vec_fini(&space->spans);
	vec_fini(&space->firsts);
	vec_fini(&space->before);
	vec_fini(&space->puts);
	vec_fini(&space->checkpoints);
	free(space);
}

static int add_checkpoint_when_due(struct address_space *space)
{
	size_t done = space->times.count;
	size_t share = space->now->count / CHECKPOINT_SHARE;
	size_t step = share > CHECKPOINT_MIN_CHANGES ? share : CHECKPOINT_MIN_CHANGES;
	size_t last = 0;

	if (space->checkpoints.count)
		last = space->checkpoints.items[space->checkpoints.count - 1].changes;
	if (done - last < step)
		return 0;
	if (vec_push(&space->checkpoints, (struct checkpoint){.changes = done}) < 0)
		return -ENOMEM;
	space->checkpoints.items[space->checkpoints.count - 1].state = snapshot_ref(space->now);
	return 0;
}

static struct address_region region_cut(struct address_region region, struct span span)
{
	if (region.start < span.start)
		region.start = span.start;
	if (region.end > span.end)
		region.end = span.end;
	return region;
}

/* Reserves one change and n regions, so that nothing can fail half way. */
static int reserve_history(struct address_space *space, size_t n)
{
	if (vec_reserve(&space->times, space->times.count + 1) < 0 ||
	    vec_reserve(&space->spans, space->spans.count + 1) < 0 ||
	    vec_reserve(&space->firsts, space->firsts.count + 1) < 0 ||
	    vec_reserve(&space->puts, space->puts.count + 1) < 0 ||
	    vec_reserve(&space->before, space->before.count + n) < 0)
		return -ENOMEM;
	return 0;
}

static void add_history(struct address_space *space, uint64_t time_ns, struct span span,
			const struct address_region *replaced, size_t n)
{
	space->times.items[space->times.count++] = time_ns;
	space->spans.items[space->spans.count++] = span;
	space->firsts.items[space->firsts.count++] = space->before.count;
	for (size_t i = 0; i < n; i++)
		space->before.items[space->before.count++] = region_cut(replaced[i], span);
}

/* Applies a change that puts nothing (put is NULL) or one region at a span. */
static int change(struct address_space *space, uint64_t time_ns, struct span span,
		  const struct address_region *put)
{
	size_t first;
	size_t last;

	if (space->times.count && time_ns < space->times.items[space->times.count - 1])
		time_ns = space->times.items[space->times.count - 1];
	bool remembered = time_ns > 0;
	if (remembered && add_checkpoint_when_due(space) < 0)
		return -ENOMEM;
	snapshot_overlap(space->now, span, &first, &last);
	if (remembered && reserve_history(space, last - first) < 0)
		return -ENOMEM;
	SCOPED(snapshot) struct snapshot *next = NULL;
	if (space->now->refs > 1) {
		next = snapshot_copy(space->now);
		if (!next)
			return -ENOMEM;
	}
	/* History saves the old regions before they move; it is undone on failure. */
	size_t changes = space->times.count;
	size_t before = space->before.count;
	if (remembered) {
		add_history(space, time_ns, span, last > first ? space->now->regions + first : NULL,
			    last - first);
		space->puts.items[space->puts.count++] = put ? *put : (struct address_region){0};
	}
	if (snapshot_replace(next ? next : space->now, span, put, put ? 1 : 0) < 0) {
		space->times.count = space->spans.count = changes;
		space->firsts.count = space->puts.count = changes;
		space->before.count = before;
		return -ENOMEM;
	}
	if (next) {
		struct snapshot *shared = space->now;

		space->now = scope_take(&next);
		snapshot_unref(shared);
	}
	space->generation++;
	return 0;
}

int address_space_map(struct address_space *space, uint64_t time_ns,
		      const struct address_mapping *mapping)
{
	struct address_region put = {
		.start = mapping->start,
		.end = mapping->end,
		.bias = mapping->bias,
		.file_base = mapping->file_offset - mapping->start,
		.module = mapping->module,
	};

	if (put.start >= put.end)
		return -EINVAL;
	const struct address_region *old = snapshot_find(space->now, put.start);
	if (old && old->end >= put.end && old->bias == put.bias &&
	    old->file_base == put.file_base && old->module == put.module)
		return 0;
	return change(space, time_ns, (struct span){put.start, put.end}, &put);
}

int address_space_unmap(struct address_space *space, uint64_t time_ns, uint64_t start, uint64_t end)
{
	size_t first;
	size_t last;

	if (start >= end)
		return -EINVAL;
	snapshot_overlap(space->now, (struct span){start, end}, &first, &last);
	if (first == last)
		return 0;
	return change(space, time_ns, (struct span){start, end}, NULL);
}

int address_space_clear(struct address_space *space, uint64_t time_ns)
{
	return address_space_unmap(space, time_ns, 0, UINT64_MAX);
}

/* How many changes had been made by a time. */
static size_t changes_at(const struct address_space *space, uint64_t time_ns)
{
	/* Most lookups are about the latest state. */
	if (space->times.count == 0 || space->times.items[space->times.count - 1] <= time_ns)
		return space->times.count;
	return count_at_most(space->times.items, space->times.count, time_ns);
}

/* The index of the first checkpoint with at least that many changes. */
static size_t first_checkpoint(const struct address_space *space, size_t changes)
{
	size_t low = 0;
	size_t high = space->checkpoints.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->checkpoints.items[middle].changes < changes)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first full state with at least that many changes, and its number of changes. */
static struct snapshot *state_after(const struct address_space *space, size_t changes,
				    size_t *ret_changes)
{
	size_t i = first_checkpoint(space, changes);

	if (i == space->checkpoints.count) {
		*ret_changes = space->times.count;
		return space->now;
	}
	*ret_changes = space->checkpoints.items[i].changes;
	return space->checkpoints.items[i].state;
}

static const struct address_region *before_of(const struct address_space *space,
					      size_t change_index, size_t *ret_count)
{
	size_t first = space->firsts.items[change_index];
	size_t end = change_index + 1 < space->firsts.count ? space->firsts.items[change_index + 1]
							    : space->before.count;

	*ret_count = end - first;
	return end > first ? space->before.items + first : NULL;
}

static const struct address_region *find_before(const struct address_space *space,
						size_t change_index, uint64_t address)
{
	size_t count;
	const struct address_region *regions = before_of(space, change_index, &count);
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (regions[middle].end <= address)
			low = middle + 1;
		else if (regions[middle].start > address)
			count = middle;
		else
			return &regions[middle];
	}
	return NULL;
}

/*
 * A time: a full state and the changes between the two, which are later than the time and must be
 * undone, or earlier and must be redone.
 */
struct moment {
	size_t from;
	size_t to;
	bool forward; /* the state is before that time */
	const struct snapshot *state;
};

static struct moment moment_of(const struct address_space *space, uint64_t time_ns)
{
	struct moment moment = {.from = changes_at(space, time_ns)};

	if (moment.from == space->times.count) {
		moment.to = moment.from;
		moment.state = space->now;
		return moment;
	}
	size_t later = first_checkpoint(space, moment.from);
	moment.state = state_after(space, moment.from, &moment.to);
	if (later > 0) {
		const struct checkpoint *earlier = &space->checkpoints.items[later - 1];

		if (moment.from - earlier->changes < moment.to - moment.from)
			return (struct moment){.from = earlier->changes,
					       .to = moment.from,
					       .forward = true,
					       .state = earlier->state};
	}
	return moment;
}

static inline bool span_holds(const struct span *span, uint64_t address)
{
	return address - span->start < span->end - span->start;
}

/* Most changes are elsewhere: whole blocks are excluded without a branch. */
static inline bool block_holds(const struct span *spans, uint64_t address)
{
	unsigned int hits = 0;

	for (size_t i = 0; i < SCAN_BLOCK; i++)
		hits |= span_holds(&spans[i], address);
	return hits;
}

/* Undoes later changes: the first one that touched the address has the answer. */
static const struct address_region *find_undone(const struct address_space *space,
						const struct moment *moment, uint64_t address)
{
	const struct span *spans = space->spans.items;
	size_t i = moment->from;

	while (moment->to - i >= SCAN_BLOCK && !block_holds(spans + i, address))
		i += SCAN_BLOCK;
	for (; i < moment->to; i++)
		if (span_holds(&spans[i], address))
			return find_before(space, i, address);
	return snapshot_find(moment->state, address);
}

/* Redoes changes: the last one that touched the address has the answer. */
static const struct address_region *find_redone(const struct address_space *space,
						const struct moment *moment, uint64_t address)
{
	const struct span *spans = space->spans.items;
	size_t i = moment->to;

	while (i - moment->from >= SCAN_BLOCK && !block_holds(spans + i - SCAN_BLOCK, address))
		i -= SCAN_BLOCK;
	for (; i > moment->from; i--) {
		const struct address_region *put = &space->puts.items[i - 1];

		if (span_holds(&spans[i - 1], address))
			return put->end ? put : NULL;
	}
	return snapshot_find(moment->state, address);
}

static inline const struct address_region *find_at(const struct address_space *space,
						   const struct moment *moment, uint64_t address)
{
	if (moment->from == moment->to)
		return snapshot_find(moment->state, address);
	return moment->forward ? find_redone(space, moment, address)
			       : find_undone(space, moment, address);
}

static inline bool fill_hit(const struct address_region *region, uint64_t address,
			    struct address_hit *ret)
{
	if (!region) {
		*ret = (struct address_hit){.module = MODULE_NONE, .vaddr = address};
		return false;
	}
	ret->module = region->module;
	ret->vaddr = address - region->bias;
	ret->file_offset = address + region->file_base;
	return true;
}

bool address_space_resolve(const struct address_space *space, uint64_t time_ns, uint64_t address,
			   struct address_hit *ret)
{
	struct moment moment = moment_of(space, time_ns);

	return fill_hit(find_at(space, &moment, address), address, ret);
}

size_t address_space_resolve_batch(const struct address_space *space, uint64_t time_ns,
				   const uint64_t *addresses, size_t n, struct address_hit *ret)
{
	struct moment moment = moment_of(space, time_ns);
	/*
	 * A region in a later state existed in full at that time, but a region of an earlier state
	 * may have been partly replaced since.
	 */
	bool whole = !moment.forward;
	const struct address_region *last = NULL;
	size_t found = 0;

	/* Neighbours on a stack are often in one library. */
	for (size_t i = 0; i < n; i++) {
		if (!last || !whole || addresses[i] < last->start || addresses[i] >= last->end)
			last = find_at(space, &moment, addresses[i]);
		found += fill_hit(last, addresses[i], &ret[i]);
	}
	return found;
}

struct address_space *address_space_fork(struct address_space *parent, uint64_t time_ns)
{
	size_t changes = changes_at(parent, time_ns);
	size_t held;
	struct snapshot *state = state_after(parent, changes, &held);
	SCOPED(mem) struct address_space *child = calloc(1, sizeof(*child));
	SCOPED(snapshot) struct snapshot *own = NULL;

	if (!child)
		return NULL;
	own = held == changes ? snapshot_ref(state) : snapshot_copy(state);
	if (!own)
		return NULL;
	while (held > changes) {
		size_t count;
		const struct address_region *before = before_of(parent, --held, &count);

		if (snapshot_replace(own, parent->spans.items[held], before, count) < 0)
			return NULL;
	}
	child->generation = own->count > 0;
	child->now = scope_take(&own);
	return scope_take(&child);
}

uint64_t address_space_generation(const struct address_space *space)
{
	return space->generation;
}

uint64_t address_space_generation_at(const struct address_space *space, uint64_t time_ns)
{
	if (time_ns == ADDRESS_SPACE_NOW)
		return space->generation;
	return space->generation - (space->times.count - changes_at(space, time_ns));
}

const struct address_region *address_space_regions(const struct address_space *space,
						   size_t *ret_count)
{
	*ret_count = space->now->count;
	return space->now->regions;
}

static size_t snapshot_bytes(const struct snapshot *snapshot)
{
	return sizeof(*snapshot) +
	       snapshot->capacity * (sizeof(*snapshot->starts) + sizeof(*snapshot->regions));
}

size_t address_space_memory_bytes(const struct address_space *space)
{
	size_t bytes = sizeof(*space) + snapshot_bytes(space->now);

	bytes += space->times.capacity * sizeof(*space->times.items);
	bytes += space->spans.capacity * sizeof(*space->spans.items);
	bytes += space->firsts.capacity * sizeof(*space->firsts.items);
	bytes += space->before.capacity * sizeof(*space->before.items);
	bytes += space->puts.capacity * sizeof(*space->puts.items);
	bytes += space->checkpoints.capacity * sizeof(*space->checkpoints.items);
	for (size_t i = 0; i < space->checkpoints.count; i++)
		if (space->checkpoints.items[i].state != space->now)
			bytes += snapshot_bytes(space->checkpoints.items[i].state);
	return bytes;
}
