/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_RESOLVER_BATCH_H
#define WICK_LOAD_NAMES_RESOLVER_BATCH_H

/*
 * resolver_batch: many addresses at once. They are looked up in the order in which they
 * lie, whatever the order of asking: neighbours share a unit, a function and the
 * memory where answers are kept, and that is half of the time.
 */

#include <stddef.h>
#include <stdint.h>

struct resolved;
struct resolver;

/*
 * Looks up count addresses and hands out each answer with the place of its address in the
 * order of asking; an answer is valid during the call. Ends with what visit answers when
 * that is not 0; -ENOMEM without memory.
 */
int resolver_batch_visit(struct resolver *resolver, const uint64_t *addresses, size_t count,
			 int (*visit)(void *self, const struct resolved *found, size_t i),
			 void *self);

#endif
