/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_RESOLVER_BATCH_H
#define WICK_LOAD_NAMES_RESOLVER_BATCH_H

/*
 * resolver_batch: looks up many addresses at once, in address order, whatever order the caller has
 * them in. Neighbours share a compilation unit, a function and cached answers, which halves the
 * time.
 */

#include <stddef.h>
#include <stdint.h>

struct resolved;
struct resolver;

/*
 * Looks up `count` addresses and calls visit for each answer, with the index of its address. An
 * answer is valid during the call. Stops with the result of visit if that is not 0; returns -ENOMEM
 * if out of memory.
 */
int resolver_batch_visit(struct resolver *resolver, const uint64_t *addresses, size_t count,
			 int (*visit)(void *self, const struct resolved *found, size_t i),
			 void *self);

#endif
