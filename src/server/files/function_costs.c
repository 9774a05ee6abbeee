/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/function_costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"

/* The costs of a name: by its string id. */
struct cost {
	uint32_t name;
	uint32_t seen; /* the entry that counted it last, plus one */
	int64_t self;
	int64_t total;
	uint64_t samples;
};

static void add_entry(const struct profile *profile, size_t entry, uint32_t samples_value,
		      struct cost *costs)
{
	const int64_t *values = profile_entry_values(profile, entry);
	int64_t value = values[profile->main_value];
	uint64_t samples = samples_value == ID_NONE ? 0 : (uint64_t)values[samples_value];
	uint32_t node = profile->entries.items[entry].stack;
	bool is_leaf = true;

	for (; node != 0; node = profile->stacks.nodes.items[node].parent) {
		const struct profile_location *location =
			&profile->locations.items[profile->stacks.nodes.items[node].frame];
		uint32_t i;

		for (i = location->line_count; i-- > 0;) {
			uint32_t function = profile->lines.items[location->first_line + i].function;
			struct cost *cost = &costs[profile->functions.items[function].name];

			if (is_leaf)
				cost->self += value;
			is_leaf = false;
			if (cost->seen == (uint32_t)entry + 1)
				continue;
			cost->seen = (uint32_t)entry + 1;
			cost->total += value;
			cost->samples += samples;
		}
	}
}

static int by_cost(const void *a, const void *b)
{
	const struct cost *x = a;
	const struct cost *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

int function_costs_pass(const struct profile *profile, size_t limit, uint32_t from_s, uint32_t to_s,
			store_item_fn each, void *self)
{
	size_t count = profile->strings.entries.count;
	SCOPED(mem) struct cost *costs = calloc(count, sizeof(*costs));
	uint32_t samples_value = call_tree_samples_value(profile);
	size_t i;

	if (!costs)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		costs[i].name = (uint32_t)i;
	for (i = 0; i < profile->entries.count; i++)
		add_entry(profile, i, samples_value, costs);
	qsort(costs, count, sizeof(*costs), by_cost);
	for (i = 0; i < count && i < limit && costs[i].seen > 0; i++) {
		struct store_item item = {
			.name = profile_text(profile, costs[i].name),
			.detail = "",
			.samples = costs[i].samples,
			.value = costs[i].total,
			.self = costs[i].self,
			.from_s = from_s,
			.to_s = to_s,
		};

		if (!each(self, &item))
			break;
	}
	return 0;
}
