/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/memory_codec.h"

#include <errno.h>

#include "base/bytes.h"

#define KIB 1024u
/* Larger than any address; sums of the maximum number of values still fit into 64 bits. */
#define MOST_KIB (UINT64_C(1) << 46)

static void put_kib(struct bytes *out, uint64_t size_bytes)
{
	bytes_put_varint(out, size_bytes / KIB < MOST_KIB ? size_bytes / KIB : MOST_KIB);
}

static void put_split(struct bytes *out, const struct memory_reading *reading)
{
	const struct memory_split *split = &reading->split;
	size_t count = reading->region_count < MEMORY_MAX_REGIONS ? reading->region_count
								  : MEMORY_MAX_REGIONS;
	uint64_t end = 0;

	put_kib(out, split->heap_size_bytes);
	put_kib(out, split->heap_bytes);
	put_kib(out, split->stack_bytes);
	put_kib(out, split->file_bytes);
	put_kib(out, split->own_bytes);
	put_kib(out, split->rest_bytes);
	bytes_put_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		const struct memory_region *region = &reading->regions[i];

		put_kib(out, region->start - end);
		put_kib(out, region->size_bytes);
		put_kib(out, region->resident_bytes);
		end = region->start + region->size_bytes;
	}
}

void memory_encode(const struct memory_reading *reading, struct bytes *out)
{
	struct bytes body = {0};

	bytes_put_varint(&body, reading->pid);
	bytes_put_varint(&body, reading->start_ns);
	bytes_put_varint(&body, reading->exec_count);
	bytes_put_varint(&body, reading->time_ns);
	if (reading->kind == MEMORY_SUM) {
		put_kib(&body, reading->resident_bytes);
		put_kib(&body, reading->shared_bytes);
	} else if (reading->kind == MEMORY_SPLIT) {
		put_split(&body, reading);
	}
	bytes_put_u8(out, (uint8_t)reading->kind);
	bytes_put_string(out, (const char *)body.data, body.size);
	out->failed = out->failed || body.failed;
	bytes_fini(&body);
}

static uint64_t take_kib(struct cursor *in)
{
	return cursor_varint_max(in, MOST_KIB) * KIB;
}

static void take_split(struct cursor *in, struct memory_region *regions, struct memory_reading *ret)
{
	struct memory_split *split = &ret->split;
	uint64_t end = 0;

	split->heap_size_bytes = take_kib(in);
	split->heap_bytes = take_kib(in);
	split->stack_bytes = take_kib(in);
	split->file_bytes = take_kib(in);
	split->own_bytes = take_kib(in);
	split->rest_bytes = take_kib(in);
	ret->region_count = (size_t)cursor_varint_max(in, MEMORY_MAX_REGIONS);
	ret->regions = regions;
	ret->resident_bytes = split->heap_bytes + split->stack_bytes + split->file_bytes +
			      split->own_bytes + split->rest_bytes;
	for (size_t i = 0; i < ret->region_count && !in->failed; i++) {
		regions[i].start = end + take_kib(in);
		regions[i].size_bytes = take_kib(in);
		regions[i].resident_bytes = take_kib(in);
		if (regions[i].start < end ||
		    regions[i].start > UINT64_MAX - regions[i].size_bytes) {
			in->failed = true;
			return;
		}
		end = regions[i].start + regions[i].size_bytes;
		ret->resident_bytes += regions[i].resident_bytes;
	}
}

int memory_decode(struct cursor *in, struct memory_region *regions, struct memory_reading *ret)
{
	uint8_t kind = cursor_u8(in);
	size_t size = (size_t)cursor_varint_max(in, cursor_left(in));
	const uint8_t *data = cursor_take(in, size);
	struct cursor body;

	if (in->failed)
		return -EBADMSG;
	if (kind >= MEMORY_READING_KINDS)
		return 0;
	body = cursor_of(data, size);
	*ret = (struct memory_reading){.kind = (enum memory_reading_kind)kind};
	ret->pid = (uint32_t)cursor_varint_max(&body, UINT32_MAX);
	ret->start_ns = cursor_varint(&body);
	ret->exec_count = (uint32_t)cursor_varint_max(&body, UINT32_MAX);
	ret->time_ns = cursor_varint(&body);
	if (kind == MEMORY_SUM) {
		ret->resident_bytes = take_kib(&body);
		ret->shared_bytes = take_kib(&body);
	} else if (kind == MEMORY_SPLIT) {
		take_split(&body, regions, ret);
	}
	return body.failed ? -EBADMSG : 1; /* a later version may append more */
}
