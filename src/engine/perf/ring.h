/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_RING_H
#define WICK_ENGINE_PERF_RING_H

/*
 * ring: the buffer that the kernel fills with the records of one CPU.
 *
 * Records are read in place; only one that wraps around the end is copied. The
 * kernel overwrites nothing that was not given back with ring_release().
 */

#include <stddef.h>
#include <stdint.h>

struct perf_event_header;

/* The largest record: its size is 16 bits. */
#define RING_RECORD_MAX 65536u

struct ring {
	void *base;          /* control page, then data */
	const uint8_t *data; /* what follows the control page */
	size_t data_bytes;
	uint64_t head;     /* read up to here, as seen by ring_look() */
	uint64_t tail;     /* next record */
	uint64_t *wrapped; /* room for a record that wraps; made when first needed */
};

/* Maps the ring of an event. Returns 0 or a negative errno. */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

/* Sees what the kernel has written so far. */
void ring_look(struct ring *ring);

/* The next record, NULL when there is none (or, on no memory for a wrapped one, for now). */
const struct perf_event_header *ring_peek(struct ring *ring);
/*
 * A later one: *position is how far behind the next it lies, and is moved behind it. Stays
 * valid beside the next one.
 */
const struct perf_event_header *ring_peek_later(struct ring *ring, uint64_t *position);
void ring_next(struct ring *ring); /* steps over what ring_peek() gave */

/* Gives the room of all records that were stepped over back to the kernel. */
void ring_release(struct ring *ring);

#endif
