/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/function_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "base/vec.h"
#include "model/profile.h"

/* The cost of a line of a function at one address; a line with several addresses has several. */
struct line_cost {
	uint32_t function;
	uint32_t line;
	double cost;
};

/* Adds up the cost of each location. A parent's id is smaller, so one backward pass is enough. */
static int cost_locations(const struct profile *profile, uint32_t value, double *locations)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	size_t count = profile->stacks.nodes.count;
	SCOPED(mem) double *stacks = calloc(count + 1, sizeof(*stacks));
	size_t i;

	if (!stacks)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++)
		stacks[profile->entries.items[i].stack] +=
			(double)profile_entry_values(profile, i)[value];
	for (i = count; i-- > 1;) {
		stacks[nodes[i].parent] += stacks[i];
		locations[nodes[i].frame] += stacks[i];
	}
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line_cost *x = a;
	const struct line_cost *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Takes the most expensive line of each function. */
static void choose(const struct line_cost *costs, size_t count, uint32_t *lines)
{
	double best = 0;
	size_t i = 0;

	while (i < count) {
		struct line_cost sum = costs[i];

		if (i == 0 || costs[i - 1].function != sum.function)
			best = -1;
		for (i++; i < count && compare_lines(&costs[i], &sum) == 0; i++)
			sum.cost += costs[i].cost;
		if (sum.cost > best) {
			best = sum.cost;
			lines[sum.function] = sum.line;
		}
	}
}

static bool has_lines(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->lines.count; i++)
		if (profile->lines.items[i].line > 0)
			return true;
	return false;
}

int function_lines_new(const struct profile *profile, uint32_t value, uint32_t **ret)
{
	SCOPED(mem) double *locations = calloc(profile->locations.count + 1, sizeof(double));
	SCOPED(mem) uint32_t *lines = calloc(profile->functions.count + 1, sizeof(uint32_t));
	SCOPED(mem)
	struct line_cost *costs = malloc((profile->lines.count + 1) * sizeof(struct line_cost));
	size_t count = 0;
	size_t i;
	uint32_t k;

	if (!locations || !lines || !costs)
		return -ENOMEM;
	if (has_lines(profile) && cost_locations(profile, value, locations) < 0)
		return -ENOMEM;
	for (i = 0; i < profile->locations.count; i++) {
		struct profile_location at = profile->locations.items[i];

		for (k = 0; k < at.line_count; k++) {
			struct profile_line line = profile->lines.items[at.first_line + k];

			if (line.line > 0)
				costs[count++] =
					(struct line_cost){line.function, line.line, locations[i]};
		}
	}
	qsort(costs, count, sizeof(*costs), compare_lines);
	choose(costs, count, lines);
	*ret = scope_take(&lines);
	return 0;
}
