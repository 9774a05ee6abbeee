/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/call_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"

struct tally_order {
	const struct profile *profile;
	enum call_tally_key by;
};

static const char *tally_name(const struct tally_order *order, uint32_t key)
{
	return profile_text(order->profile, order->by == CALL_TALLY_MODULE
						    ? key
						    : order->profile->functions.items[key].name);
}

static int compare_tallies(const void *a, const void *b, void *context)
{
	const struct call_tally *x = a;
	const struct call_tally *y = b;
	int order;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	order = strcmp(tally_name(context, x->key), tally_name(context, y->key));
	return order ? order : (x->key > y->key) - (x->key < y->key);
}

int call_tally_new(const struct profile *profile, const struct call_tree *tree,
		   enum call_tally_key key, struct call_tally **ret, size_t *ret_count)
{
	const struct call_node *nodes = call_tree_nodes(tree);
	struct tally_order order = {.profile = profile, .by = key};
	size_t keys = key == CALL_TALLY_MODULE ? profile->strings.entries.count
					       : profile->functions.count;
	SCOPED(mem) struct call_tally *tallies = calloc(keys + 1, sizeof(*tallies));
	/* Up to this node, the key is already counted. */
	SCOPED(mem) uint32_t *open_until = calloc(keys + 1, sizeof(*open_until));
	size_t count = 0;
	uint32_t i;

	if (!tallies || !open_until)
		return -ENOMEM;
	for (i = 0; i < call_tree_count(tree); i++) {
		const struct call_node *node = &nodes[i];
		struct call_tally *tally;
		uint32_t slot;

		if (node->function & CALL_TREE_GROUP)
			continue;
		slot = key == CALL_TALLY_MODULE ? profile->functions.items[node->function].module
						: node->function;
		tally = &tallies[slot];
		tally->self += node->self;
		tally->self_samples += node->self_samples;
		if (i < open_until[slot])
			continue;
		open_until[slot] = node->end;
		tally->total += node->total;
		tally->samples += node->samples;
	}
	for (i = 0; i < keys; i++) {
		if (open_until[i] == 0)
			continue;
		tallies[i].key = i;
		tallies[count++] = tallies[i];
	}
	qsort_r(tallies, count, sizeof(*tallies), compare_tallies, &order);
	*ret = scope_take(&tallies);
	*ret_count = count;
	return 0;
}
