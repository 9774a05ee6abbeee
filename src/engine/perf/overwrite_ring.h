/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_OVERWRITE_RING_H
#define WICK_ENGINE_PERF_OVERWRITE_RING_H

/*
 * overwrite_ring: the buffer of a CPU in which the kernel overwrites the oldest records when it is
 * full (--on-overflow overwrite-old).
 *
 * The kernel fills it backwards: the newest record is at its current position and the older ones
 * follow. New records are copied, in time order, into an ordinary ring in our own memory, while the
 * kernel's output is paused for a few microseconds.
 */

#include <stddef.h>
#include <stdint.h>

struct ring;

struct overwrite_ring {
	void *base; /* control page, then data; NULL: not mapped */
	const uint8_t *data;
	size_t data_bytes;
	int fd;            /* of the event that it belongs to; -1: no output to pause */
	uint64_t head;     /* copied up to here; it counts down */
	uint8_t *newest;   /* a copy of the new records, the newest first */
	uint32_t *offsets; /* of the records in it */
};

/* Maps the ring of an event and creates the ring to read. Returns 0 or a negative errno. */
int overwrite_ring_map(struct overwrite_ring *from, struct ring *to, int fd, size_t data_bytes);
/* The same with memory that is mapped already; on failure base is still the caller's. */
int overwrite_ring_init(struct overwrite_ring *from, struct ring *to, int fd, void *base,
			size_t data_bytes);
void overwrite_ring_unmap(struct overwrite_ring *from, struct ring *to);

/*
 * Appends what the kernel has written to what is still unread. Returns how many samples were
 * overwritten, an estimate: the bytes are known, and the average size is that of the samples
 * which are left.
 */
uint64_t overwrite_ring_take(struct overwrite_ring *from, struct ring *to);

/* The number of unread samples. */
uint64_t overwrite_ring_pending(const struct ring *to);

#endif
