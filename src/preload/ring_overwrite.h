/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RING_OVERWRITE_H
#define WICK_PRELOAD_RING_OVERWRITE_H

/*
 * ring_overwrite: makes room in a full ring by releasing its oldest records (--on-overflow
 * overwrite-old). The writer never waits: it publishes how far it has released before it writes
 * there, and the reader checks that after it has copied a record.
 */

#include <stdbool.h>
#include <stdint.h>

struct session_slot;

/* Releases as many records as needed to write up to `end`. False if the ring is too small. */
bool ring_make_room(struct session_slot *slot, const uint64_t *ring, uint64_t size, uint64_t end);

/* Counts a sample that was written and published. */
void ring_count_sample(struct session_slot *slot);

#endif
