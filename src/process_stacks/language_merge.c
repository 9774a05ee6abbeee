/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/language_merge.h"

#include "language/language.h"
#include "unwind/python_walk.h"

/* The range of the loop's code that frame i is in; NULL: none. */
static const struct language_range *range_of(const struct language_merge *merge, uint32_t i)
{
	uint64_t pc = merge->pcs[i] - (i > 0); /* all but the leaf are return addresses */

	for (size_t j = 0; j < merge->loop_count; j++)
		if (pc >= merge->loops[j].start && pc < merge->loops[j].end)
			return &merge->loops[j];
	return NULL;
}

static bool is_loop(const struct language_merge *merge, uint32_t i)
{
	const struct language_range *range = range_of(merge, i);

	return range && !range->is_inner;
}

/* Whether frame i works for the loop that called it, which the calls stand for. */
static bool is_inner(const struct language_merge *merge, uint32_t i)
{
	const struct language_range *range = range_of(merge, i);

	return range && range->is_inner && i + 1 < merge->count && is_loop(merge, i + 1);
}

static uint32_t count_loops(const struct language_merge *merge, uint32_t from)
{
	uint32_t loops = 0;

	for (uint32_t i = from; i < merge->count; i++)
		loops += is_loop(merge, i);
	return loops;
}

/* How many calls were made by C code, from this one on. */
static uint32_t count_entries(const struct language_merge *merge, uint32_t from)
{
	uint32_t entries = 0;

	for (uint32_t i = from; i < merge->word_count; i++)
		entries += (merge->words[i] & PYTHON_WORD_ENTRY) != 0;
	return entries;
}

/* Writes the calls of that many loops from *at on. Returns the number of calls. */
static uint32_t put_calls(const struct language_merge *merge, uint32_t *at, uint32_t loops,
			  uint64_t *ret)
{
	uint32_t count = 0;

	while (loops > 0 && *at < merge->word_count) {
		ret[count] = merge->words[*at];
		loops -= (merge->words[*at] & PYTHON_WORD_ENTRY) != 0;
		count++;
		(*at)++;
	}
	return count;
}

/* Where frames are missing in the middle; 0: nowhere. */
static uint32_t find_gap(const struct language_merge *merge)
{
	for (uint32_t i = 1; merge->whole && i < merge->count; i++)
		if (merge->pcs[i] == LANGUAGE_MERGE_GAP)
			return i;
	return 0;
}

/* Writes the calls of the loops that are missing, because those after them need the rest. */
static uint32_t put_missing(const struct language_merge *merge, uint32_t *at, uint32_t gap,
			    uint64_t *ret)
{
	uint32_t entries = count_entries(merge, *at);
	uint32_t after = count_loops(merge, gap + 1);

	return entries > after ? put_calls(merge, at, entries - after, ret) : 0;
}

bool language_merge_has_loop(const struct language_merge *merge)
{
	return count_loops(merge, 0) > 0;
}

bool language_merge_fits(const struct language_merge *merge)
{
	uint32_t entries = count_entries(merge, 0);
	uint32_t loops = count_loops(merge, 0);

	return loops > 0 && merge->word_count > 0 && loops <= entries + 1 &&
	       (!merge->whole || entries <= loops + 1);
}

uint32_t language_merge(const struct language_merge *merge, uint64_t *ret)
{
	uint32_t entries = count_entries(merge, 0);
	uint32_t loops = count_loops(merge, 0);
	uint32_t gap = find_gap(merge);
	bool from_root = merge->whole && gap == 0;
	/* Loops at the leaf without calls, calls there without a loop, entries in the first one. */
	uint32_t empty = from_root && loops > entries ? loops - entries : 0;
	uint32_t more = from_root && entries > loops ? entries - loops : 0;
	uint32_t late = merge->loop_count > 0 && merge->loops[0].begins_late ? more : 0;
	uint32_t first = more - late + 1;
	uint32_t count;
	uint32_t at = 0;

	if (loops == 0 && (from_root || merge->word_count == 0))
		return 0;
	count = put_calls(merge, &at, late, ret);
	for (uint32_t i = 0; i < merge->count; i++) {
		uint32_t calls = 0;

		if (gap > 0 && i == gap)
			count += put_missing(merge, &at, gap, ret + count);
		if (empty == 0 && is_inner(merge, i))
			continue;
		if (is_loop(merge, i)) {
			if (empty > 0) {
				empty--;
			} else {
				calls = put_calls(merge, &at, first, ret + count);
				first = 1;
			}
		}
		count += calls;
		if (calls == 0 && !merge->only)
			ret[count++] = merge->pcs[i];
	}
	/* Calls of loops that the native walk has not reached. */
	return count + put_calls(merge, &at, UINT32_MAX, ret + count);
}
