/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap_ranges.h"

#include <stddef.h>

static void copy_frames(struct heap_frames *to, const struct heap_frames *from)
{
	to->count = from->count < HEAP_FRAMES ? from->count : HEAP_FRAMES;
	to->flags = from->flags;
	for (uint32_t i = 0; i < from->count && i < HEAP_FRAMES; i++)
		to->pcs[i] = from->pcs[i];
}

static uint64_t check_of(const struct heap_range *range, const struct heap_frames *frames)
{
	uint64_t sum = range->begin * 3 + range->end * 5 + frames->count + frames->flags;

	for (uint32_t i = 0; i < frames->count && i < HEAP_FRAMES; i++)
		sum = (sum ^ frames->pcs[i]) * 0x9e3779b97f4a7c15ull;
	return sum + 1;
}

bool heap_ranges_add(struct heap_ranges *ranges, uint64_t begin, uint64_t end,
		     const struct heap_frames *frames)
{
	uint32_t at = ranges->count;

	if (at >= HEAP_RANGES)
		return false;
	ranges->items[at] = (struct heap_range){begin, end};
	copy_frames(&ranges->frames[at], frames);
	ranges->checks[at] = check_of(&ranges->items[at], &ranges->frames[at]);
	ranges->count = at + 1;
	return true;
}

static void take_out(struct heap_ranges *ranges, uint32_t at)
{
	uint32_t last = --ranges->count;

	if (at == last)
		return;
	ranges->items[at] = ranges->items[last];
	ranges->checks[at] = ranges->checks[last];
	copy_frames(&ranges->frames[at], &ranges->frames[last]);
}

bool heap_ranges_cut(struct heap_ranges *ranges, uint64_t begin, uint64_t end, struct heap_cut *ret)
{
	uint32_t at = 0;

	if (ranges->count > HEAP_RANGES) {
		ranges->count = 0;
		ranges->damaged++;
	}
	while (at < ranges->count) {
		if (ranges->checks[at] != check_of(&ranges->items[at], &ranges->frames[at])) {
			take_out(ranges, at);
			ranges->damaged++;
		} else if (ranges->items[at].begin < end && ranges->items[at].end > begin) {
			break;
		} else {
			at++;
		}
	}
	if (at >= ranges->count)
		return false;
	ret->whole = ranges->items[at];
	copy_frames(&ret->frames, &ranges->frames[at]);
	take_out(ranges, at);
	ret->head = ret->whole.begin < begin &&
		    heap_ranges_add(ranges, ret->whole.begin, begin, &ret->frames);
	ret->tail =
		ret->whole.end > end && heap_ranges_add(ranges, end, ret->whole.end, &ret->frames);
	return true;
}
