/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_STACK_IDS_H
#define WICK_STORE_CLUSTER_STACK_IDS_H

/*
 * stack_ids: the ids of the stacks and locations of a profile: hashes of their content, so servers
 * that know nothing of each other give the same ids.
 *
 * A location with a name is known by its lines and its module, one without by its build id and its
 * address, as in names.h. The id of a stack is made of those of its caller and its location.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct profile;

struct stack_ids {
	const struct profile *profile;
	uint64_t *locations; /* by location; 0: not needed */
	uint64_t *stacks;    /* by stack; that of the empty stack is 0 */
	uint8_t *needed;     /* by stack: rows have it, or one that it calls */
	struct bytes row;    /* of one location */
	struct bytes text;
};

/* wanted: by stack, whether rows have it. 0 or -ENOMEM; then too, stack_ids_fini(). */
int stack_ids_init(struct stack_ids *ids, const struct profile *profile, const uint8_t *wanted);
void stack_ids_fini(struct stack_ids *ids);

/*
 * The row of a location for the table locations: its id comes before it. *ret_is_named: it is known
 * by its name. Valid until the next call. 0 or -ENOMEM.
 */
int stack_ids_location(struct stack_ids *ids, uint32_t location, bool *ret_is_named);

#endif
