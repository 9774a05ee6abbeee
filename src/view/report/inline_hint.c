/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/inline_hint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "model/profile.h"

/*
 * Reported if it takes a fifth of the total, in more than two rows, none of which has most of it.
 */
#define LEAST_SHARE 0.2
#define LEAST_ROWS 3u
#define MOST_OF_ONE 0.6

/* The function that contains the code of a location, and the one that is shown. */
static uint32_t outer_of(const struct profile *profile, uint32_t location)
{
	const struct profile_location *place = &profile->locations.items[location];

	return profile->lines.items[place->first_line].function;
}

static uint32_t inner_of(const struct profile *profile, uint32_t location)
{
	const struct profile_location *place = &profile->locations.items[location];

	return profile->lines.items[place->first_line + place->line_count - 1].function;
}

/* Sums the samples that end in each location. Returns the total. */
static int64_t add_leaves(const struct profile *profile, uint32_t value, int64_t *leaves)
{
	int64_t whole = 0;

	for (size_t i = 0; i < profile->entries.count; i++) {
		uint32_t stack = profile->entries.items[i].stack;
		int64_t cost = profile_entry_values(profile, i)[value];

		whole += cost;
		if (stack != 0)
			leaves[profile->stacks.nodes.items[stack].frame] += cost;
	}
	return whole;
}

/* Whether a function's time is spread over several rows; parts is scratch, by function. */
static bool is_spread(const struct profile *profile, const int64_t *leaves, int64_t *parts,
		      struct inline_hint *hint)
{
	int64_t most = 0;

	hint->rows = 0;
	for (size_t i = 0; i < profile->functions.count; i++)
		parts[i] = 0;
	for (size_t i = 0; i < profile->locations.count; i++) {
		int64_t *part;

		if (leaves[i] == 0 || outer_of(profile, (uint32_t)i) != hint->function)
			continue;
		part = &parts[inner_of(profile, (uint32_t)i)];
		hint->rows += *part == 0;
		*part += leaves[i];
		most = *part > most ? *part : most;
	}
	return hint->rows >= LEAST_ROWS && (double)most <= MOST_OF_ONE * (double)hint->self;
}

int inline_hint_find(const struct profile *profile, uint32_t value, struct inline_hint *ret)
{
	SCOPED(mem) int64_t *leaves = calloc(profile->locations.count + 1, sizeof(*leaves));
	SCOPED(mem) int64_t *selves = calloc(profile->functions.count + 1, sizeof(*selves));
	SCOPED(mem) int64_t *parts = calloc(profile->functions.count + 1, sizeof(*parts));
	int64_t whole;

	*ret = (struct inline_hint){.function = ID_NONE};
	if (!leaves || !selves || !parts)
		return -ENOMEM;
	whole = add_leaves(profile, value, leaves);
	for (size_t i = 0; i < profile->locations.count; i++)
		if (leaves[i] != 0)
			selves[outer_of(profile, (uint32_t)i)] += leaves[i];
	for (uint32_t i = 0; i < profile->functions.count; i++) {
		struct inline_hint hint = {.function = i, .self = selves[i]};

		if ((double)hint.self >= LEAST_SHARE * (double)whole && hint.self > ret->self &&
		    is_spread(profile, leaves, parts, &hint))
			*ret = hint;
	}
	return 0;
}
