/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include <errno.h>

#include "base/error.h"
#include "store/store_ops.h"

int store_open(const struct store_config *config, struct store **ret, struct error *err)
{
	size_t i;

	for (i = 0; store_table[i]; i++)
		if (store_table[i]->takes(config))
			return store_table[i]->open(config, ret, err);
	(void)error_set(err, -EINVAL, "%s is no store", config->url);
	error_remedy(err, "clickhouse://HOST:PORT/DATABASE");
	return -EINVAL;
}

void store_close(struct store *store)
{
	if (store)
		store->ops->close(store);
}

int store_append(struct store *store, const struct store_batch *batch, struct error *err)
{
	return store->ops->append(store, batch, err);
}

int store_maintain(struct store *store, uint64_t now_s, struct error *err)
{
	return store->ops->maintain(store, now_s, err);
}

int store_profile(struct store *store, const struct store_selector *selector, struct profile **ret,
		  struct error *err)
{
	return store->ops->profile(store, selector, ret, err);
}

int store_values(struct store *store, const struct store_selector *selector, const char *label,
		 store_item_fn each, void *self, struct error *err)
{
	return store->ops->values(store, selector, label, each, self, err);
}

int store_label_names(struct store *store, const struct store_selector *selector,
		      store_item_fn each, void *self, struct error *err)
{
	return store->ops->label_names(store, selector, each, self, err);
}

int store_over_time(struct store *store, const struct store_selector *selector,
		    const struct store_over_time *what, store_item_fn each, void *self,
		    struct error *err)
{
	return store->ops->over_time(store, selector, what, each, self, err);
}

int store_gaps(struct store *store, const struct store_selector *selector, store_item_fn each,
	       void *self, struct error *err)
{
	return store->ops->gaps(store, selector, each, self, err);
}

int store_damaged(struct store *store, store_item_fn each, void *self, struct error *err)
{
	return store->ops->damaged(store, each, self, err);
}

int store_unnamed(struct store *store, const char *build_id, uint32_t from_id,
		  store_address_fn each, void *self, struct error *err)
{
	return store->ops->unnamed(store, build_id, from_id, each, self, err);
}

int store_unnamed_modules(struct store *store, store_unnamed_fn each, void *self, struct error *err)
{
	return store->ops->unnamed_modules(store, each, self, err);
}

int store_set_names(struct store *store, const struct store_naming *namings, size_t count,
		    struct error *err)
{
	return store->ops->set_names(store, namings, count, err);
}

void store_stats(struct store *store, struct store_stats *ret)
{
	store->ops->stats(store, ret);
}
