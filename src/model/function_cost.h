/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_FUNCTION_COST_H
#define WICK_MODEL_FUNCTION_COST_H

/*
 * function_cost: what functions, or sets of them, cost in a profile, and how much that varies from
 * one slice of time to the next.
 *
 * The caller assigns each function to a row. A stack counts once in the total of a row, even if
 * several functions of the row are in it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct cost {
	int64_t weight;
	uint64_t samples;
	/* Over all pairs of neighbouring slices, in squared units of the weight: */
	double steps; /* sum of the squared differences */
	double joint; /* sum of the difference times that of the whole profile */
};

struct function_cost {
	struct cost self; /* stacks that end in the row */
	struct cost total;
};

struct cost_table {
	struct cost whole; /* the whole profile; its joint is not used */
	uint32_t slices;   /* from the first to the last one; 0: times are unknown */
	bool exact;        /* not samples: weights are not estimates */
	struct function_cost *rows;
	size_t count;
};

/*
 * Fills the table for one value type. row_of has an item for each function of the profile: a row
 * below count, or ID_NONE. 0 or -ENOMEM.
 */
int cost_table_init(struct cost_table *table, const struct profile *profile, uint32_t value,
		    const uint32_t *row_of, size_t count);
void cost_table_fini(struct cost_table *table);

#endif
