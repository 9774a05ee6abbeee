/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_STORE_OPS_H
#define WICK_STORE_STORE_OPS_H

/*
 * store_ops: what a kind of store does. Callers use the functions of store.h, which say what each
 * member does; this is for who writes one. tests/unit/test_store.c runs over all of them.
 */

#include "store/store.h"

struct store_ops {
	const char *name;
	/* Whether the configuration means this kind. */
	bool (*takes)(const struct store_config *config);
	int (*open)(const struct store_config *config, struct store **ret, struct error *err);
	void (*close)(struct store *store);

	int (*append)(struct store *store, const struct store_batch *batch, struct error *err);
	int (*maintain)(struct store *store, uint64_t now_s, struct error *err);
	int (*profile)(struct store *store, const struct store_selector *selector,
		       struct profile **ret, struct error *err);
	int (*values)(struct store *store, const struct store_selector *selector, const char *label,
		      store_item_fn each, void *self, struct error *err);
	int (*label_names)(struct store *store, const struct store_selector *selector,
			   store_item_fn each, void *self, struct error *err);
	int (*over_time)(struct store *store, const struct store_selector *selector,
			 const struct store_over_time *what, store_item_fn each, void *self,
			 struct error *err);
	int (*gaps)(struct store *store, const struct store_selector *selector, store_item_fn each,
		    void *self, struct error *err);
	int (*damaged)(struct store *store, store_item_fn each, void *self, struct error *err);
	int (*unnamed)(struct store *store, const char *build_id, uint32_t from_id,
		       store_address_fn each, void *self, struct error *err);
	int (*unnamed_modules)(struct store *store, store_unnamed_fn each, void *self,
			       struct error *err);
	int (*set_names)(struct store *store, const struct store_naming *namings, size_t count,
			 struct error *err);
	void (*stats)(struct store *store, struct store_stats *ret);
};

/* What every store begins with. */
struct store {
	const struct store_ops *ops;
};

extern const struct store_ops embedded_store_ops;
extern const struct store_ops cluster_store_ops;

/* NULL last. */
extern const struct store_ops *const store_table[];

#endif
