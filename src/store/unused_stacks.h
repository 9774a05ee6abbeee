/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_UNUSED_STACKS_H
#define WICK_STORE_UNUSED_STACKS_H

/*
 * unused_stacks: removes stacks whose rows are all gone.
 *
 * The day of the last row of each stack is on disk with that row. Hours are removed oldest first,
 * so a stack that was used last before the day of the oldest hour has no rows. No file has to be
 * read.
 */

#include <stdint.h>

struct error;
struct embedded;

/* Removes some of them: many take several calls. */
int unused_stacks_remove(struct embedded *store, uint64_t now_s, struct error *err);

#endif
