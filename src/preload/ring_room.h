/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RING_ROOM_H
#define WICK_PRELOAD_RING_ROOM_H

/*
 * ring_room: room in a ring that is full, by giving up its oldest records
 * (--on-overflow overwrite-old). The writer waits for nobody and asks nobody: it says
 * how far it has given up before it writes there, and whoever reads looks at that
 * after it has copied a record.
 */

#include <stdbool.h>
#include <stdint.h>

struct session_slot;

/*
 * Gives up as many records as it takes to write up to `end`. False when the ring is
 * too small for that.
 */
bool ring_make_room(struct session_slot *slot, const uint64_t *ring, uint64_t size, uint64_t end);

/* One more sample is written, and its head is told. */
void ring_count_sample(struct session_slot *slot);

#endif
