/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_OVERWRITE_RING_H
#define WICK_ENGINE_PERF_OVERWRITE_RING_H

/*
 * overwrite_ring: the buffer of a CPU that the kernel never finds full: it writes over
 * the oldest records (--on-overflow overwrite-old).
 *
 * The kernel fills it backward, so that the newest record is where it has got to and the
 * others follow. What is new is copied, in order of time, into an ordinary ring of our
 * own memory, while the kernel holds its output back for some microseconds.
 */

#include <stddef.h>
#include <stdint.h>

struct ring;

struct overwrite_ring {
	void *base; /* control page, then data; NULL: there is none */
	const uint8_t *data;
	size_t data_bytes;
	int fd;            /* of the event that it belongs to; -1: nobody to hold back */
	uint64_t head;     /* copied up to here; the kernel counts down */
	uint8_t *newest;   /* a copy of what is new, the newest first */
	uint32_t *offsets; /* of the records in it */
};

/* Maps the ring of an event, and makes the ring that is read. 0 or a negative errno. */
int overwrite_ring_map(struct overwrite_ring *from, struct ring *to, int fd, size_t data_bytes);
/* The same over memory that is there; base stays the caller's when it fails. */
int overwrite_ring_init(struct overwrite_ring *from, struct ring *to, int fd, void *base,
			size_t data_bytes);
void overwrite_ring_unmap(struct overwrite_ring *from, struct ring *to);

/*
 * Moves what the kernel has written behind what is still to be read. Returns how many samples
 * were overwritten before: the bytes are known, and the samples that are left tell how
 * many they have on average.
 */
uint64_t overwrite_ring_take(struct overwrite_ring *from, struct ring *to);

/* The samples that are still to be read. */
uint64_t overwrite_ring_pending(const struct ring *to);

#endif
