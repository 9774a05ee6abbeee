/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/language_merge.h"

#include "language/language.h"
#include "unwind/python_walk.h"

static bool is_loop(const struct language_merge *merge, uint32_t i)
{
	uint64_t pc = merge->pcs[i] - (i > 0); /* all but the leaf are return addresses */

	for (size_t j = 0; j < merge->loop_count; j++)
		if (pc >= merge->loops[j].start && pc < merge->loops[j].end)
			return true;
	return false;
}

/* How many calls were made by C code. */
static uint32_t count_entries(const struct language_merge *merge)
{
	uint32_t entries = 0;

	for (uint32_t i = 0; i < merge->word_count; i++)
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

uint32_t language_merge(const struct language_merge *merge, uint64_t *ret)
{
	uint32_t entries = count_entries(merge);
	uint32_t loops = 0;
	uint32_t empty; /* loops at the leaf without calls */
	uint32_t first; /* entries in the first of the others */
	uint32_t count = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < merge->count; i++)
		loops += is_loop(merge, i);
	if (loops == 0)
		return 0;
	empty = merge->whole && loops > entries ? loops - entries : 0;
	first = merge->whole && entries > loops ? entries - loops + 1 : 1;
	for (uint32_t i = 0; i < merge->count; i++) {
		uint32_t calls = 0;

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
