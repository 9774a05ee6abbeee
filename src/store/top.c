/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/error.h"
#include "base/scope.h"
#include "model/call_tally.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "store/store.h"

static bool give_function(const struct profile *profile, const struct call_tally *tally,
			  store_item_fn each, void *self)
{
	const struct profile_function *function = &profile->functions.items[tally->key];
	struct store_item item = {
		.name = profile_text(profile, function->name),
		.detail = profile_text(profile, function->module),
		.samples = tally->samples,
		.value = tally->total,
		.self = tally->self,
	};

	return each(self, &item);
}

int store_top(struct store *store, const struct store_selector *selector, size_t limit,
	      store_item_fn each, void *self, struct error *err)
{
	SCOPED(profile) struct profile *profile = NULL;
	SCOPED(call_tree) struct call_tree *tree = NULL;
	SCOPED(mem) struct call_tally *tallies = NULL;
	struct call_tree_options options = {.value = 1};
	size_t count = 0;
	size_t i;
	int r = store_profile(store, selector, &profile, err);

	if (r < 0)
		return r;
	if (call_tree_new(profile, &options, &tree) < 0 ||
	    call_tally_new(profile, tree, CALL_TALLY_FUNCTION, &tallies, &count) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < count && i < limit; i++)
		if (!give_function(profile, &tallies[i], each, self))
			break;
	return 0;
}
