/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "load/loader.h"

/* The samples one by one, in time order: see load_options.order. */

/* The value type for the weights of an event; ID_NONE: no room for it. */
static uint32_t find_type(const struct loader *loader, uint32_t event, bool *ret_counts)
{
	const struct profile *profile = loader->profile;
	uint32_t i;

	*ret_counts = false;
	for (i = 0; i < profile->value_count; i++)
		if (loader->sources[i] == event)
			return i;
	/* If the main value is the number of samples, its weights are not shown. */
	*ret_counts = event == loader->samples.events.main;
	return *ret_counts ? profile->main_value : ID_NONE;
}

/* By sum: its stack in the profile; ID_NONE: filtered out. Returns 0 or -ENOMEM. */
static int find_stacks(struct loader *loader, struct stack_filter *filter, uint32_t *stacks)
{
	size_t i;

	for (i = 0; i < loader->samples.sums.count; i++) {
		const struct sample_sum *sum = &loader->samples.sums.items[i];
		int r = loader_rebuild_at(loader, sum->stack, true, sum->time_ns, &stacks[i]);

		if (r < 0)
			return r;
		if (!stack_filter_accepts(filter, loader->profile, stacks[i]))
			stacks[i] = ID_NONE;
	}
	return 0;
}

/* Samples with equal times stay in file order. */
static int by_time(const void *a, const void *b)
{
	const struct sample_in_order *x = *(const struct sample_in_order *const *)a;
	const struct sample_in_order *y = *(const struct sample_in_order *const *)b;

	if (x->since_ns != y->since_ns)
		return x->since_ns < y->since_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int add_sample(struct loader *loader, const struct sample_in_order *from, uint32_t stack)
{
	bool counts;
	struct profile_sample sample = {
		.since_ns = from->since_ns,
		.type = find_type(loader, from->event, &counts),
		.stack = stack,
	};
	int r;

	if (stack == ID_NONE || sample.type == ID_NONE)
		return 0;
	sample.value = (int64_t)(counts ? from->count : from->weight);
	r = loader_thread(loader, loader->samples.sums.items[from->sum].thread, &sample.thread);
	return r < 0 ? r : vec_push(&loader->profile->time.samples, sample);
}

int loader_add_order(struct loader *loader, struct stack_filter *filter)
{
	size_t count = loader->samples.order.count;
	SCOPED(mem) const struct sample_in_order **order = calloc(count + 1, sizeof(*order));
	SCOPED(mem)
	uint32_t *stacks = calloc(loader->samples.sums.count + 1, sizeof(*stacks));
	size_t i;
	int r;

	if (!order || !stacks || vec_reserve(&loader->profile->time.samples, count) < 0)
		return -ENOMEM;
	r = find_stacks(loader, filter, stacks);
	for (i = 0; i < count; i++)
		order[i] = &loader->samples.order.items[i];
	qsort(order, count, sizeof(*order), by_time);
	for (i = 0; i < count && r == 0; i++)
		r = add_sample(loader, order[i], stacks[order[i]->sum]);
	return r;
}
