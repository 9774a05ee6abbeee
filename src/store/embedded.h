/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_EMBEDDED_H
#define WICK_STORE_EMBEDDED_H

/* embedded: the store in a folder of this machine: DuckDB and Parquet files. */

#include "store/store_ops.h"

/* What embedded_store_ops lists; store_ops.h says what they do. */
int embedded_append(struct store *base, const struct store_batch *batch, struct error *err);
int embedded_maintain(struct store *base, uint64_t now_s, struct error *err);
int embedded_profile(struct store *base, const struct store_selector *selector,
		     struct profile **ret, struct error *err);
int embedded_values(struct store *base, const struct store_selector *selector, const char *label,
		    store_item_fn each, void *self, struct error *err);
int embedded_label_names(struct store *base, const struct store_selector *selector,
			 store_item_fn each, void *self, struct error *err);
int embedded_over_time(struct store *base, const struct store_selector *selector,
		       const struct store_over_time *what, store_item_fn each, void *self,
		       struct error *err);
int embedded_gaps(struct store *base, const struct store_selector *selector, store_item_fn each,
		  void *self, struct error *err);
int embedded_damaged(struct store *base, store_item_fn each, void *self, struct error *err);
int embedded_unnamed(struct store *base, const char *build_id, uint32_t from_id,
		     store_address_fn each, void *self, struct error *err);
int embedded_unnamed_modules(struct store *base, store_unnamed_fn each, void *self,
			     struct error *err);
int embedded_set_names(struct store *base, const struct store_naming *namings, size_t count,
		       struct error *err);
void embedded_stats(struct store *base, struct store_stats *ret);

#endif
