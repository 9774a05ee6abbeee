/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_PERF_RECORDS_H
#define WICK_TESTS_PERF_RECORDS_H

/*
 * perf_records: records as the kernel writes them, and a ring over ordinary
 * memory to put them into.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "engine/perf/ring.h"
#include "perf_records/perf_record.h"

/* How records of an event look that asks for TID, TIME, CPU and so much more. */
static inline struct perf_record_layout layout_with(uint64_t more, uint64_t registers)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | more,
		.sample_regs_user = registers,
		.sample_id_all = 1,
	};
	struct perf_record_layout layout;

	perf_record_layout_init(&layout, &attr);
	return layout;
}

struct record_builder {
	_Alignas(8) uint8_t data[16384];
	size_t size;
};

static inline void put_raw(struct record_builder *b, const void *bytes, size_t n)
{
	assert_true(b->size + n <= sizeof(b->data));
	memcpy(b->data + b->size, bytes, n);
	b->size += n;
}

static inline void put_u32(struct record_builder *b, uint32_t value)
{
	put_raw(b, &value, sizeof(value));
}

static inline void put_u64(struct record_builder *b, uint64_t value)
{
	put_raw(b, &value, sizeof(value));
}

/* A text with NUL, filled up to eight bytes as the kernel does. */
static inline void put_name(struct record_builder *b, const char *text)
{
	put_raw(b, text, strlen(text) + 1);
	while (b->size % 8 != 0)
		put_raw(b, "", 1);
}

static inline void record_begin(struct record_builder *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	b->size = 0;
	put_raw(b, &header, sizeof(header));
}

static inline const struct perf_event_header *record_end(struct record_builder *b)
{
	struct perf_event_header *header = (struct perf_event_header *)(void *)b->data;

	header->size = (uint16_t)b->size;
	return header;
}

/* The end of every record that is no sample: TID, TIME, CPU. */
static inline void put_trailer(struct record_builder *b, uint32_t pid, uint32_t tid,
			       uint64_t time_ns, uint32_t cpu)
{
	put_u32(b, pid);
	put_u32(b, tid);
	put_u64(b, time_ns);
	put_u32(b, cpu);
	put_u32(b, 0);
}

/* A sample without a period, as clocks give it. */
static inline const struct perf_event_header *make_sample(struct record_builder *b, uint32_t pid,
							  uint64_t time_ns, uint32_t cpu,
							  const uint64_t *chain, size_t n)
{
	size_t i;

	record_begin(b, PERF_RECORD_SAMPLE, 0);
	put_u32(b, pid);
	put_u32(b, pid);
	put_u64(b, time_ns);
	put_u32(b, cpu);
	put_u32(b, 0);
	put_u64(b, n);
	for (i = 0; i < n; i++)
		put_u64(b, chain[i]);
	return record_end(b);
}

/* A ring of ordinary memory; ring_of_memory_free() instead of ring_unmap(). */
static inline void ring_of_memory(struct ring *ring, size_t data_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = calloc(1, page + data_bytes);

	assert_non_null(base);
	*ring = (struct ring){
		.base = base, .data = (uint8_t *)base + page, .data_bytes = data_bytes};
}

static inline void ring_of_memory_free(struct ring *ring)
{
	free(ring->base);
	free(ring->wrapped);
}

/* What the kernel does: appends a record, around the end if it must. */
static inline void ring_append(struct ring *ring, const struct perf_event_header *record)
{
	struct perf_event_mmap_page *page = ring->base;
	uint8_t *data = (uint8_t *)ring->base + (size_t)sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < record->size; i++)
		data[(page->data_head + i) % ring->data_bytes] = ((const uint8_t *)record)[i];
	page->data_head += record->size;
}

/* The same backward: before the last record, over whatever is there. */
static inline void ring_prepend(uint8_t *base, size_t data_bytes,
				const struct perf_event_header *record)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)base;
	uint8_t *data = base + (size_t)sysconf(_SC_PAGESIZE);

	page->data_head -= record->size;
	for (size_t i = 0; i < record->size; i++)
		data[(page->data_head + i) % data_bytes] = ((const uint8_t *)record)[i];
}

/* Memory for such a ring, which overwrite_ring_unmap() gives back. */
static inline uint8_t *map_ring_memory(size_t data_bytes)
{
	void *base = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + data_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(base, MAP_FAILED);
	return base;
}

#endif
