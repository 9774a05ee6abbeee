/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_RING_H
#define WICK_ENGINE_PERF_RING_H

/*
 * ring: the buffer that the kernel fills with the records of one CPU.
 *
 * Records are read in place; only one that wraps around the end is copied. The kernel
 * overwrites a record only after ring_release().
 */

#include <stddef.h>
#include <stdint.h>

struct perf_event_header;

/* The largest record: its size is 16 bits. */
#define RING_RECORD_MAX 65536u

struct ring {
	void *base;          /* control page, then data */
	const uint8_t *data; /* after the control page */
	size_t data_bytes;
	uint64_t head;     /* end of the records, as of the last ring_look() */
	uint64_t tail;     /* the next record */
	uint64_t *wrapped; /* room for a record that wraps; allocated when first needed */
};

/* Maps the ring of an event. Returns 0 or a negative errno. */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

/* The same ring for somebody else, who only looks at it, from the next record on. */
void ring_view(const struct ring *ring, struct ring *ret);
/* Up to where its records were released. */
uint64_t ring_drained(const struct ring *ring);

/* Updates the head to what the kernel has written so far. */
void ring_look(struct ring *ring);

/* The next record; NULL: none, or no memory to copy one that wraps (try again later). */
const struct perf_event_header *ring_peek(struct ring *ring);
/*
 * A later record: *position is its distance from the next record (0 first) and is advanced.
 * The record stays valid together with the one of ring_peek().
 */
const struct perf_event_header *ring_peek_later(struct ring *ring, uint64_t *position);
void ring_next(struct ring *ring); /* skips the record that ring_peek() returned */

/* Returns the space of all skipped records to the kernel. */
void ring_release(struct ring *ring);

#endif
