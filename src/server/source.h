/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_SOURCE_H
#define WICK_SERVER_SOURCE_H

/*
 * source: where the routes of queries get their answers from: the store of wick server, or the
 * recordings of wick serve. The `self` of those routes begins with a struct source.
 *
 * Any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct error;
struct profile;
struct source;

struct source_ops {
	/* The sum of what is selected. With by_time also what a page shows over time, if known. */
	int (*profile)(struct source *source, const struct store_selector *selector, bool by_time,
		       struct profile **ret, struct error *err);
	void (*release)(struct source *source, struct profile *profile);

	/* As the functions of the store with these names. */
	int (*values)(struct source *source, const struct store_selector *selector,
		      const char *label, store_item_fn each, void *self, struct error *err);
	int (*label_names)(struct source *source, const struct store_selector *selector,
			   store_item_fn each, void *self, struct error *err);
	int (*top)(struct source *source, const struct store_selector *selector, size_t limit,
		   store_item_fn each, void *self, struct error *err);
	int (*over_time)(struct source *source, const struct store_selector *selector,
			 const struct store_over_time *what, store_item_fn each, void *self,
			 struct error *err);
	int (*gaps)(struct source *source, const struct store_selector *selector,
		    store_item_fn each, void *self, struct error *err);

	/*
	 * Optional: the time that the matches cover, which is the default of a query and whose end
	 * is its "now"; the default type is then "", which means the main one in profiles. NULL:
	 * the defaults are the last hour and "cpu".
	 */
	void (*range)(struct source *source, const struct store_match *matches, size_t count,
		      uint64_t *ret_from_s, uint64_t *ret_to_s);
	uint32_t shortest_step_s; /* of a series, unless the query asks for another */
};

struct source {
	const struct source_ops *ops;
};

static inline int source_profile(struct source *source, const struct store_selector *selector,
				 bool by_time, struct profile **ret, struct error *err)
{
	return source->ops->profile(source, selector, by_time, ret, err);
}

/* Changes made to the profile must not hurt whoever gets it next. */
static inline void source_release(struct source *source, struct profile *profile)
{
	if (profile)
		source->ops->release(source, profile);
}

static inline int source_values(struct source *source, const struct store_selector *selector,
				const char *label, store_item_fn each, void *self,
				struct error *err)
{
	return source->ops->values(source, selector, label, each, self, err);
}

static inline int source_label_names(struct source *source, const struct store_selector *selector,
				     store_item_fn each, void *self, struct error *err)
{
	return source->ops->label_names(source, selector, each, self, err);
}

static inline int source_top(struct source *source, const struct store_selector *selector,
			     size_t limit, store_item_fn each, void *self, struct error *err)
{
	return source->ops->top(source, selector, limit, each, self, err);
}

static inline int source_over_time(struct source *source, const struct store_selector *selector,
				   const struct store_over_time *what, store_item_fn each,
				   void *self, struct error *err)
{
	return source->ops->over_time(source, selector, what, each, self, err);
}

static inline int source_gaps(struct source *source, const struct store_selector *selector,
			      store_item_fn each, void *self, struct error *err)
{
	return source->ops->gaps(source, selector, each, self, err);
}

/* The store of a server: its struct begins with a source that has these. */
extern const struct source_ops store_source;

#endif
