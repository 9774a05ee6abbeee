/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/record.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <linux/perf_event.h>

/* What stands at the end of every record but samples: TID, TIME, CPU. */
#define TRAILER_BYTES 24u

static const uint8_t *body(const struct perf_event_header *header)
{
	return (const uint8_t *)(header + 1);
}

static size_t body_bytes(const struct perf_event_header *header)
{
	return header->size - sizeof(*header);
}

static uint32_t u32_at(const uint8_t *place)
{
	uint32_t value;

	memcpy(&value, place, sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *place)
{
	uint64_t value;

	memcpy(&value, place, sizeof(value));
	return value;
}

uint64_t record_time_ns(const struct perf_event_header *header)
{
	if (body_bytes(header) < TRAILER_BYTES)
		return 0;
	if (header->type == PERF_RECORD_SAMPLE)
		return u64_at(body(header) + 8);
	return u64_at((const uint8_t *)header + header->size - 16);
}

/* nr values[nr], from `at` on. Returns where they end, 0 when they do not. */
static size_t take_values(const uint8_t *body, size_t size, size_t at, struct sample_record *ret)
{
	if (size < at + 8)
		return 0;
	ret->value_count = u64_at(body + at);
	ret->values = (const uint64_t *)(const void *)(body + at + 8); /* records are 8-aligned */
	if (ret->value_count > (size - at - 8) / sizeof(uint64_t))
		return 0;
	return at + 8 + ret->value_count * sizeof(uint64_t);
}

/* What all samples begin with: pid tid time cpu. */
static size_t take_origin(const uint8_t *body, size_t size, struct sample_record *ret)
{
	*ret = (struct sample_record){0};
	if (size < 24)
		return 0;
	ret->pid = (pid_t)u32_at(body);
	ret->tid = (pid_t)u32_at(body + 4);
	ret->time_ns = u64_at(body + 8);
	ret->cpu = u32_at(body + 16);
	return 24;
}

bool record_raw(const struct perf_event_header *header, struct sample_record *ret)
{
	const uint8_t *at = body(header);
	size_t n = body_bytes(header);

	if (take_origin(at, n, ret) == 0 || n < 28)
		return false;
	ret->raw_bytes = u32_at(at + 24);
	ret->raw = at + 28;
	return ret->raw_bytes <= n - 28;
}

bool record_sample(const struct perf_event_header *header, struct sample_layout layout,
		   struct sample_record *ret)
{
	const uint8_t *place = body(header);
	size_t n = body_bytes(header);
	size_t at = take_origin(place, n, ret);

	if (at == 0 || (layout.period && n < at + 8))
		return false;
	if (layout.period) {
		ret->period = u64_at(place + at);
		at += 8;
	}
	if (layout.group)
		at = take_values(place, n, at, ret);
	if (at == 0 || n < at + 8)
		return false;
	ret->count = u64_at(place + at);
	ret->chain = (const uint64_t *)(const void *)(place + at + 8); /* records are 8-aligned */
	return ret->count <= (n - at - 8) / sizeof(uint64_t);
}

/*
 * It stands among those that BPF programs write, which have a size of 32 bits and then
 * the kind of the record, never 0, where a group has its count.
 */
bool record_group(const struct perf_event_header *header, struct sample_record *ret)
{
	size_t n = body_bytes(header);
	size_t at = take_origin(body(header), n, ret);

	return at > 0 && n >= at + 8 && u32_at(body(header) + at + 4) == 0 &&
	       take_values(body(header), n, at, ret) > 0;
}

/* abi registers[n] (none when abi is 0) size stack[size] dynamic-size (none when size is 0) */
bool record_user_stack(const struct perf_event_header *header, unsigned int register_count,
		       struct sample_record *sample)
{
	const uint8_t *at = (const uint8_t *)(sample->chain + sample->count);
	const uint8_t *end = (const uint8_t *)header + header->size;
	uint64_t size;

	sample->registers = NULL;
	sample->stack_bytes = 0;
	if (end - at < 8)
		return false;
	sample->is_32_bit = u64_at(at) == PERF_SAMPLE_REGS_ABI_32;
	if (u64_at(at) != PERF_SAMPLE_REGS_ABI_NONE) {
		if ((uint64_t)(end - at) < 16 + 8ull * register_count)
			return false;
		sample->registers = (const uint64_t *)(const void *)(at + 8);
		at += 8ull * register_count;
	}
	at += 8;
	if (end - at < 8)
		return false;
	size = u64_at(at);
	at += 8;
	if (size == 0)
		return true;
	if (size > (uint64_t)(end - at) || (uint64_t)(end - at) - size < 8)
		return false;
	sample->stack = at;
	sample->stack_bytes = u64_at(at + size);
	return sample->stack_bytes <= size;
}

bool record_task(const struct perf_event_header *header, struct task_record *ret)
{
	const uint8_t *at = body(header);

	if (body_bytes(header) < 24 + TRAILER_BYTES)
		return false;
	ret->pid = (pid_t)u32_at(at);
	ret->parent_pid = (pid_t)u32_at(at + 4);
	ret->tid = (pid_t)u32_at(at + 8);
	ret->parent_tid = (pid_t)u32_at(at + 12);
	return true;
}

bool record_comm(const struct perf_event_header *header, struct comm_record *ret)
{
	const uint8_t *at = body(header);
	size_t n = body_bytes(header);

	if (n < 8 + TRAILER_BYTES || !memchr(at + 8, '\0', n - 8 - TRAILER_BYTES))
		return false;
	ret->pid = (pid_t)u32_at(at);
	ret->tid = (pid_t)u32_at(at + 4);
	ret->comm = (const char *)at + 8;
	ret->exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
	return true;
}

/* The name as the kernel writes it: "//anon" for memory without one. */
static void set_name(struct map_record *ret, const char *name, size_t size)
{
	size_t bare;

	if (size == 6 && memcmp(name, "//anon", 6) == 0)
		size = 0;
	ret->region.kind = region_kind_of(name, size, &bare);
	if (bare >= sizeof(ret->name))
		bare = sizeof(ret->name) - 1;
	memcpy(ret->name, name, bare);
	ret->name[bare] = '\0';
	ret->region.path = ret->name;
}

/*
 * pid tid addr len pgoff, then either (maj min ino generation) or (size, build
 * id), then prot flags and the name.
 */
bool record_map(const struct perf_event_header *header, struct map_record *ret)
{
	const uint8_t *at = body(header);
	size_t n = body_bytes(header);
	const uint8_t *name = at + 64;
	const uint8_t *name_end;

	if (n < 64 + TRAILER_BYTES)
		return false;
	name_end = memchr(name, '\0', n - 64 - TRAILER_BYTES);
	if (!name_end)
		return false;
	ret->pid = (pid_t)u32_at(at);
	ret->region = (struct map_region){
		.start = u64_at(at + 8),
		.end = u64_at(at + 8) + u64_at(at + 16),
		.file_offset = u64_at(at + 24),
		.protection = REGION_EXEC,
	};
	ret->build_id.size = 0;
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		uint8_t size = at[32];

		ret->build_id.size = size <= 20 ? size : 20;
		memcpy(ret->build_id.bytes, at + 36, ret->build_id.size);
	} else {
		ret->region.device = makedev(u32_at(at + 32), u32_at(at + 36));
		ret->region.inode = u64_at(at + 40);
	}
	set_name(ret, (const char *)name, (size_t)(name_end - name));
	return (u32_at(at + 56) & PROT_EXEC) && ret->region.start < ret->region.end;
}

uint64_t record_lost(const struct perf_event_header *header)
{
	return body_bytes(header) < 16 ? 0 : u64_at(body(header) + 8);
}
