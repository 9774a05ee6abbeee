/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/language_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/profile.h"

/* A location may be several calls: functions that the compiler inlined. */
static bool location_has(const struct profile *profile, uint32_t id, enum language language)
{
	const struct profile_location *location = &profile->locations.items[id];
	uint32_t i;

	for (i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines.items[location->first_line + i];

		if (language_of(profile, &profile->functions.items[line->function]) == language)
			return true;
	}
	return false;
}

/* By location, and then by stack: parents come before their children. */
static int find_stacks(const struct profile *profile, enum language language, bool **ret)
{
	size_t count = profile->stacks.nodes.count;
	SCOPED(mem) bool *locations = calloc(profile->locations.count + 1, sizeof(*locations));
	bool *stacks = calloc(count + 1, sizeof(*stacks));
	size_t i;

	if (!locations || !stacks) {
		free(stacks);
		return -ENOMEM;
	}
	for (i = 0; i < profile->locations.count; i++)
		locations[i] = location_has(profile, (uint32_t)i, language);
	for (i = 1; i < count; i++) {
		const struct stack_node *node = &profile->stacks.nodes.items[i];

		stacks[i] =
			node->frame != ID_NONE && (stacks[node->parent] || locations[node->frame]);
	}
	*ret = stacks;
	return 0;
}

static uint64_t samples_of(const struct profile *profile, const int64_t *values)
{
	uint32_t i;

	for (i = 0; i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, "samples") == 0 && values[i] > 0)
			return (uint64_t)values[i];
	return 0;
}

/* Leaves the profile without entries. What holds for the whole input stays. */
static void set_aside(struct language_filter *filter, struct profile *profile)
{
	const struct profile_quality *all = &profile->quality;
	struct profile empty = {
		.quality = {.in_file = all->in_file,
			    .lost = all->lost,
			    .unreadable = all->unreadable,
			    .damaged_chunks = all->damaged_chunks,
			    .incomplete = all->incomplete},
		.time = {.heap_value = profile->time.heap_value},
	};

	filter->profile = profile;
	filter->all = *profile;
	profile->entries = empty.entries;
	profile->values = empty.values;
	profile->states = empty.states;
	profile->state_values = empty.state_values;
	profile->moments = empty.moments;
	profile->time = empty.time;
	profile->entry_index = empty.entry_index;
	profile->quality = empty.quality;
}

int language_filter_apply(struct language_filter *filter, struct profile *profile,
			  enum language language)
{
	const struct profile *all = &filter->all;
	SCOPED(mem) bool *stacks = NULL;
	size_t i;
	int r = find_stacks(profile, language, &stacks);

	if (r < 0)
		return r;
	set_aside(filter, profile);
	for (i = 0; i < all->entries.count && r == 0; i++) {
		const int64_t *values = profile_entry_values(all, i);

		if (!stacks[all->entries.items[i].stack])
			continue;
		r = profile_add_entry(profile, all->entries.items[i], values);
		profile->quality.samples += samples_of(profile, values);
	}
	return r;
}

void language_filter_undo(struct language_filter *filter)
{
	struct profile *profile = filter->profile;

	if (!profile)
		return;
	vec_fini(&profile->entries);
	vec_fini(&profile->values);
	vec_fini(&profile->time.longest);
	id_index_fini(&profile->entry_index);
	profile->entries = filter->all.entries;
	profile->values = filter->all.values;
	profile->states = filter->all.states;
	profile->state_values = filter->all.state_values;
	profile->moments = filter->all.moments;
	profile->time = filter->all.time;
	profile->entry_index = filter->all.entry_index;
	profile->quality = filter->all.quality;
	filter->profile = NULL;
}
