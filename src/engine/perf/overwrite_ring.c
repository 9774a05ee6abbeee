/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/overwrite_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "engine/perf/ring.h"

/* A record that was begun before the output was paused may be completed while we copy. */
#define COPIES_MAX 4

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void free_copies(struct overwrite_ring *from, struct ring *to)
{
	free(from->newest);
	free(from->offsets);
	free(to->base);
	free(to->wrapped);
	*from = (struct overwrite_ring){.fd = -1};
	*to = (struct ring){0};
}

int overwrite_ring_init(struct overwrite_ring *from, struct ring *to, int fd, void *base,
			size_t data_bytes)
{
	/* Records left over from the last time, plus everything that may be new. */
	size_t room = 2 * data_bytes;

	*to = (struct ring){.base = calloc(1, page_bytes() + room), .data_bytes = room};
	*from = (struct overwrite_ring){
		.fd = fd,
		.data_bytes = data_bytes,
		.newest = malloc(data_bytes),
		.offsets = calloc(data_bytes / sizeof(struct perf_event_header),
				  sizeof(*from->offsets)),
	};
	if (!to->base || !from->newest || !from->offsets) {
		free_copies(from, to);
		return -ENOMEM;
	}
	to->data = (const uint8_t *)to->base + page_bytes();
	from->base = base;
	from->data = (const uint8_t *)base + page_bytes();
	return 0;
}

int overwrite_ring_map(struct overwrite_ring *from, struct ring *to, int fd, size_t data_bytes)
{
	/*
	 * A read-only mapping, which cannot return space, makes the kernel overwrite old records.
	 */
	void *base = mmap(NULL, page_bytes() + data_bytes, PROT_READ, MAP_SHARED, fd, 0);
	int r;

	if (base == MAP_FAILED)
		return -errno;
	r = overwrite_ring_init(from, to, fd, base, data_bytes);
	if (r < 0)
		(void)munmap(base, page_bytes() + data_bytes); /* cannot fail: our own */
	return r;
}

void overwrite_ring_unmap(struct overwrite_ring *from, struct ring *to)
{
	(void)munmap(from->base, page_bytes() + from->data_bytes); /* cannot fail: our own */
	free_copies(from, to);
}

static uint64_t look(const struct overwrite_ring *from)
{
	const struct perf_event_mmap_page *page = from->base;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* Copies the bytes from a position on; the newest come first. */
static void copy_from(const struct overwrite_ring *from, uint64_t head, size_t size)
{
	size_t at = head & (from->data_bytes - 1);
	size_t first = from->data_bytes - at;

	if (first > size)
		first = size;
	memcpy(from->newest, from->data + at, first);
	memcpy(from->newest + first, from->data, size - first);
}

/*
 * Copies everything new while the output is paused, so that nothing is added or overwritten.
 * Returns where it begins; *size becomes its size.
 */
static uint64_t copy_new(const struct overwrite_ring *from, size_t *size)
{
	uint64_t head;
	int copies = 0;

	/* The kernel counts what it drops meanwhile, and reports it with the next record. */
	(void)ioctl(from->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	do {
		head = look(from);
		*size = from->head - head < from->data_bytes ? (size_t)(from->head - head)
							     : from->data_bytes;
		copy_from(from, head, *size);
	} while (look(from) != head && ++copies < COPIES_MAX);
	(void)ioctl(from->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	return head;
}

/* Moves what has not been read yet to the start. Returns its size in bytes. */
static size_t close_up(struct ring *to)
{
	struct perf_event_mmap_page *page = to->base;
	uint8_t *data = (uint8_t *)to->base + page_bytes();
	size_t rest = (size_t)(page->data_head - to->tail);

	memmove(data, data + to->tail, rest);
	page->data_head = to->head = rest;
	to->tail = 0;
	return rest;
}

/* Finds the complete records, starting with the newest. *ret_bytes becomes their total size. */
static size_t find_records(const struct overwrite_ring *from, size_t size, size_t *ret_bytes)
{
	size_t count = 0;
	size_t at = 0;

	while (size - at >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *header = (const void *)(from->newest + at);

		/* The oldest may be cut off; in a ring that was never full, nothing follows it. */
		if (header->size < sizeof(*header) || header->size % 8 != 0 ||
		    header->size > size - at)
			break;
		from->offsets[count++] = (uint32_t)at;
		at += header->size;
	}
	*ret_bytes = at;
	return count;
}

/* Appends records in time order. Returns how many are samples. */
static uint64_t append(const struct overwrite_ring *from, struct ring *to, size_t count)
{
	struct perf_event_mmap_page *page = to->base;
	uint8_t *data = (uint8_t *)to->base + page_bytes();
	uint64_t samples = 0;

	while (count-- > 0) {
		const struct perf_event_header *header =
			(const void *)(from->newest + from->offsets[count]);

		memcpy(data + page->data_head, header, header->size);
		page->data_head += header->size;
		samples += header->type == PERF_RECORD_SAMPLE;
	}
	return samples;
}

uint64_t overwrite_ring_take(struct overwrite_ring *from, struct ring *to)
{
	size_t size;
	size_t bytes;
	uint64_t head;
	uint64_t lost;
	uint64_t samples;

	/* While too many records wait to be read, new ones stay in the kernel. */
	if (look(from) == from->head || close_up(to) > from->data_bytes)
		return 0;
	head = copy_new(from, &size);
	samples = append(from, to, find_records(from, size, &bytes));
	lost = from->head - head - bytes;
	from->head = head;
	if (lost == 0 || samples == 0)
		return lost > 0;
	return (lost * samples + bytes / 2) / bytes;
}

uint64_t overwrite_ring_pending(const struct ring *to)
{
	const struct perf_event_mmap_page *page = to->base;
	uint64_t samples = 0;

	for (uint64_t at = to->tail; at < page->data_head;) {
		const struct perf_event_header *header = (const void *)(to->data + at);

		samples += header->type == PERF_RECORD_SAMPLE;
		at += header->size;
	}
	return samples;
}
