/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "model/profile.h"
#include "server/source.h"
#include "server/state.h"

static struct store *store_of(struct source *source)
{
	/* It is the first member. */
	return ((struct server *)(void *)source)->store;
}

static bool add_gap(void *self, const struct store_item *item)
{
	struct profile *profile = self;
	char text[512];

	(void)snprintf(text, sizeof(text), "%.200s %" PRIu32 " %" PRIu32 " %.200s", item->detail,
		       item->from_s, item->to_s, item->name);
	return profile_add_fact(profile, "gap", text) == 0;
}

static int get_profile(struct source *source, const struct store_selector *selector, bool by_time,
		       struct profile **ret, struct error *err)
{
	struct store *store = store_of(source);
	int r = store_profile(store, selector, ret, err);

	(void)by_time; /* the store keeps sums only */
	/* Gaps are a remark: without them the profile is still right. */
	if (r == 0)
		(void)store_gaps(store, selector, add_gap, *ret, NULL);
	return r;
}

static void release(struct source *source, struct profile *profile)
{
	(void)source; /* nothing is kept */
	profile_free(profile);
}

static int list_values(struct source *source, const struct store_selector *selector,
		       const char *label, store_item_fn each, void *self, struct error *err)
{
	return store_values(store_of(source), selector, label, each, self, err);
}

static int list_label_names(struct source *source, const struct store_selector *selector,
			    store_item_fn each, void *self, struct error *err)
{
	return store_label_names(store_of(source), selector, each, self, err);
}

static int list_top(struct source *source, const struct store_selector *selector, size_t limit,
		    store_item_fn each, void *self, struct error *err)
{
	return store_top(store_of(source), selector, limit, each, self, err);
}

static int list_over_time(struct source *source, const struct store_selector *selector,
			  const struct store_over_time *what, store_item_fn each, void *self,
			  struct error *err)
{
	return store_over_time(store_of(source), selector, what, each, self, err);
}

static int list_gaps(struct source *source, const struct store_selector *selector,
		     store_item_fn each, void *self, struct error *err)
{
	return store_gaps(store_of(source), selector, each, self, err);
}

const struct source_ops store_source = {
	.profile = get_profile,
	.release = release,
	.values = list_values,
	.label_names = list_label_names,
	.top = list_top,
	.over_time = list_over_time,
	.gaps = list_gaps,
	.shortest_step_s = 10,
};
