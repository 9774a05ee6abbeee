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

/* What holds for the whole input stays. */
static struct profile_quality quality_of_input(const struct profile_quality *all)
{
	return (struct profile_quality){.in_file = all->in_file,
					.lost = all->lost,
					.unreadable = all->unreadable,
					.damaged_chunks = all->damaged_chunks,
					.incomplete = all->incomplete};
}

static uint64_t samples_of(const struct profile *profile, const int64_t *values)
{
	uint32_t i;

	for (i = 0; i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, "samples") == 0 && values[i] > 0)
			return (uint64_t)values[i];
	return 0;
}

int language_filter(struct profile *profile, enum language language)
{
	struct profile_quality quality = quality_of_input(&profile->quality);
	size_t count = profile->entries.count;
	size_t row_bytes = profile->value_count * sizeof(int64_t);
	SCOPED(mem) struct profile_entry *entries = calloc(count + 1, sizeof(*entries));
	SCOPED(mem) int64_t *values = calloc(count + 1, row_bytes);
	SCOPED(mem) bool *stacks = NULL;
	size_t i;
	int r = entries && values ? find_stacks(profile, language, &stacks) : -ENOMEM;

	if (r == 0 && count > 0) {
		memcpy(entries, profile->entries.items, count * sizeof(*entries));
		memcpy(values, profile->values.items, count * row_bytes);
		profile_clear_entries(profile);
	}
	for (i = 0; i < count && r == 0; i++) {
		const int64_t *row = values + i * profile->value_count;

		if (!stacks[entries[i].stack])
			continue;
		r = profile_add_entry(profile, entries[i], row);
		quality.samples += samples_of(profile, row);
	}
	profile->quality = quality;
	return r;
}
