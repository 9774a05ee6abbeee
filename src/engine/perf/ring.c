/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int ring_map(struct ring *ring, int fd, size_t data_bytes)
{
	void *base =
		mmap(NULL, page_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	*ring = (struct ring){.base = base,
			      .data = (const uint8_t *)base + page_bytes(),
			      .data_bytes = data_bytes};
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->base)
		(void)munmap(ring->base,
			     page_bytes() + ring->data_bytes); /* cannot fail: our own */
	free(ring->wrapped);
	*ring = (struct ring){0};
}

static struct perf_event_mmap_page *control(const struct ring *ring)
{
	return ring->base;
}

void ring_view(const struct ring *ring, struct ring *ret)
{
	*ret = *ring;
	ret->wrapped = NULL;
}

uint64_t ring_drained(const struct ring *ring)
{
	return __atomic_load_n(&control(ring)->data_tail, __ATOMIC_ACQUIRE);
}

void ring_look(struct ring *ring)
{
	ring->head = __atomic_load_n(&control(ring)->data_head, __ATOMIC_ACQUIRE);
}

/* A record that wraps around the end, copied to our own memory. */
static const struct perf_event_header *unwrap(struct ring *ring, size_t at, size_t size)
{
	size_t first = ring->data_bytes - at;

	if (!ring->wrapped)
		ring->wrapped = malloc(RING_RECORD_MAX);
	if (!ring->wrapped)
		return NULL;
	memcpy(ring->wrapped, ring->data + at, first);
	memcpy((uint8_t *)ring->wrapped + first, ring->data, size - first);
	return (const struct perf_event_header *)ring->wrapped;
}

/* The record at a position; NULL if it is not there yet or cannot be read. */
static const struct perf_event_header *record_at(struct ring *ring, uint64_t position)
{
	size_t at = position & (ring->data_bytes - 1);
	const struct perf_event_header *header = (const void *)(ring->data + at);

	if (position >= ring->head || header->size < sizeof(*header) ||
	    header->size > ring->head - position)
		return NULL;
	/* Records are multiples of 8 bytes, so a header never wraps. */
	if (at + header->size > ring->data_bytes)
		return unwrap(ring, at, header->size);
	return header;
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	const struct perf_event_header *header =
		(const void *)(ring->data + (ring->tail & (ring->data_bytes - 1)));

	/* The kernel never writes such a record; without a size, the next one cannot be found. */
	if (ring->tail < ring->head &&
	    (header->size < sizeof(*header) || header->size > ring->head - ring->tail))
		ring->tail = ring->head;
	return record_at(ring, ring->tail);
}

const struct perf_event_header *ring_peek_later(struct ring *ring, uint64_t *position)
{
	/* What is available at once is at most one ring: only one record in it wraps around. */
	const struct perf_event_header *header = record_at(ring, ring->tail + *position);

	if (header)
		*position += header->size;
	return header;
}

void ring_next(struct ring *ring)
{
	const struct perf_event_header *header =
		(const void *)(ring->data + (ring->tail & (ring->data_bytes - 1)));

	ring->tail += header->size;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&control(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}
