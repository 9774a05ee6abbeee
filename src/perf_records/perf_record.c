/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_records/perf_record.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <linux/perf_event.h>

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

/* Offsets of the words that each bit of the sample type adds, in the kernel's order. */
static uint16_t add_word(uint64_t sample_type, uint64_t bit, uint16_t *at)
{
	uint16_t place = *at;

	if (!(sample_type & bit))
		return RECORD_NOWHERE;
	*at = (uint16_t)(*at + 8);
	return place;
}

/* identifier ip (pid tid) time addr id …: the rest is not needed before a sample is read. */
static void place_in_sample(struct perf_record_layout *layout)
{
	uint64_t type = layout->sample_type;
	uint16_t at = 0;
	uint16_t first = add_word(type, PERF_SAMPLE_IDENTIFIER, &at);

	(void)add_word(type, PERF_SAMPLE_IP, &at);
	(void)add_word(type, PERF_SAMPLE_TID, &at);
	layout->sample_time = add_word(type, PERF_SAMPLE_TIME, &at);
	(void)add_word(type, PERF_SAMPLE_ADDR, &at);
	layout->sample_id = add_word(type, PERF_SAMPLE_ID, &at);
	if (first != RECORD_NOWHERE)
		layout->sample_id = first;
}

/* (pid tid) time id stream (cpu) identifier */
static void place_in_trailer(struct perf_record_layout *layout)
{
	uint64_t type = layout->sample_type;
	uint16_t at = 0;
	uint16_t time;
	uint16_t id;
	uint16_t last;

	(void)add_word(type, PERF_SAMPLE_TID, &at);
	time = add_word(type, PERF_SAMPLE_TIME, &at);
	id = add_word(type, PERF_SAMPLE_ID, &at);
	(void)add_word(type, PERF_SAMPLE_STREAM_ID, &at);
	(void)add_word(type, PERF_SAMPLE_CPU, &at);
	last = add_word(type, PERF_SAMPLE_IDENTIFIER, &at);
	if (last != RECORD_NOWHERE)
		id = last;
	layout->trailer_bytes = at;
	layout->trailer_time = time == RECORD_NOWHERE ? time : (uint16_t)(at - time);
	layout->trailer_id = id == RECORD_NOWHERE ? id : (uint16_t)(at - id);
}

void perf_record_layout_init(struct perf_record_layout *layout, const struct perf_event_attr *attr)
{
	*layout = (struct perf_record_layout){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_type = attr->branch_sample_type,
		.register_count = (unsigned int)__builtin_popcountll(attr->sample_regs_user),
		.has_build_ids = attr->build_id,
		.trailer_time = RECORD_NOWHERE,
		.trailer_id = RECORD_NOWHERE,
	};
	place_in_sample(layout);
	if (attr->sample_id_all)
		place_in_trailer(layout);
}

/* A word whose offset differs between samples and other records. */
static bool word_of(const struct perf_event_header *header, uint16_t in_sample, uint16_t from_end,
		    uint64_t *ret)
{
	size_t n = body_bytes(header);

	if (header->type == PERF_RECORD_SAMPLE) {
		if (in_sample == RECORD_NOWHERE || n < (size_t)in_sample + 8)
			return false;
		*ret = u64_at(body(header) + in_sample);
		return true;
	}
	if (from_end == RECORD_NOWHERE || n < from_end)
		return false;
	*ret = u64_at((const uint8_t *)header + header->size - from_end);
	return true;
}

uint64_t perf_record_time_ns(const struct perf_record_layout *layout,
			     const struct perf_event_header *header)
{
	uint64_t time_ns;

	if (header->type != PERF_RECORD_SAMPLE && body_bytes(header) < layout->trailer_bytes)
		return 0;
	return word_of(header, layout->sample_time, layout->trailer_time, &time_ns) ? time_ns : 0;
}

bool perf_record_id(const struct perf_record_layout *layout, const struct perf_event_header *header,
		    uint64_t *ret)
{
	return word_of(header, layout->sample_id, layout->trailer_id, ret);
}

/* The rest of a record while it is read from its start. */
struct rest {
	const uint8_t *at;
	size_t bytes;
	bool failed;
};

static const uint8_t *take(struct rest *rest, uint64_t n)
{
	const uint8_t *place = rest->at;

	if (rest->failed || n > rest->bytes) {
		rest->failed = true;
		return NULL;
	}
	rest->at += n;
	rest->bytes -= n;
	return place;
}

static uint64_t take_word(struct rest *rest)
{
	const uint8_t *place = take(rest, 8);

	return place ? u64_at(place) : 0;
}

/* n items of the given size. */
static const uint8_t *take_many(struct rest *rest, uint64_t n, size_t bytes)
{
	return n > rest->bytes / bytes ? take(rest, UINT64_MAX) : take(rest, n * bytes);
}

static void take_halves(struct rest *rest, uint32_t *low, uint32_t *high)
{
	const uint8_t *place = take(rest, 8);

	*low = place ? u32_at(place) : 0;
	*high = place ? u32_at(place + 4) : 0;
}

static void take_fixed(const struct perf_record_layout *layout, struct rest *rest,
		       struct sample_record *ret)
{
	uint64_t type = layout->sample_type;
	uint32_t pid = 0;
	uint32_t tid = 0;
	uint32_t reserved;

	if (type & PERF_SAMPLE_IDENTIFIER)
		(void)take_word(rest);
	if (type & PERF_SAMPLE_IP)
		ret->ip = take_word(rest);
	if (type & PERF_SAMPLE_TID)
		take_halves(rest, &pid, &tid);
	ret->pid = (pid_t)pid;
	ret->tid = (pid_t)tid;
	if (type & PERF_SAMPLE_TIME)
		ret->time_ns = take_word(rest);
	if (type & PERF_SAMPLE_ADDR)
		(void)take_word(rest);
	if (type & PERF_SAMPLE_ID)
		(void)take_word(rest);
	if (type & PERF_SAMPLE_STREAM_ID)
		(void)take_word(rest);
	if (type & PERF_SAMPLE_CPU)
		take_halves(rest, &ret->cpu, &reserved);
	if (type & PERF_SAMPLE_PERIOD)
		ret->period = take_word(rest);
}

/* Counters of the event, or of its group. Only those of a group are kept. */
static void take_read(const struct perf_record_layout *layout, struct rest *rest,
		      struct sample_record *ret)
{
	uint64_t format = layout->read_format;
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned int words = 1u + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t count = 1;
	const void *values;

	if (format & PERF_FORMAT_GROUP)
		count = take_word(rest);
	(void)take_many(rest, times, 8);
	values = take_many(rest, count, 8u * words);
	/* An id is right after its value; what else follows it is not needed. */
	if (values && (format & PERF_FORMAT_GROUP) && (words == 1 || format & PERF_FORMAT_ID)) {
		ret->value_count = count;
		ret->values = values;
		ret->value_words = words;
	}
}

static void take_raw(struct rest *rest, struct sample_record *ret)
{
	const uint8_t *size = take(rest, 4);

	ret->raw_bytes = size ? u32_at(size) : 0;
	ret->raw = take(rest, ret->raw_bytes);
}

#define BRANCH_BYTES 24u

/* nr (hw_idx) entries[nr] (counters[nr]) */
static void take_branches(const struct perf_record_layout *layout, struct rest *rest)
{
	uint64_t count = take_word(rest);

	if (layout->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		(void)take_word(rest);
	(void)take_many(rest, count, BRANCH_BYTES);
	if (layout->branch_type & (UINT64_C(1) << 19)) /* PERF_SAMPLE_BRANCH_COUNTERS */
		(void)take_many(rest, count, 8);
}

/* abi registers[n] (absent when abi is 0) */
static void take_registers(const struct perf_record_layout *layout, struct rest *rest,
			   struct sample_record *ret)
{
	uint64_t abi = take_word(rest);

	ret->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		ret->registers = take_many(rest, layout->register_count, 8);
}

/* size stack[size] dynamic-size (absent when size is 0) */
static void take_stack(struct rest *rest, struct sample_record *ret)
{
	uint64_t size = take_word(rest);

	if (size == 0)
		return;
	ret->stack = take(rest, size);
	ret->stack_bytes = take_word(rest);
	if (ret->stack_bytes > size)
		rest->failed = true;
}

bool perf_record_sample(const struct perf_record_layout *layout,
			const struct perf_event_header *header, struct sample_record *ret)
{
	uint64_t type = layout->sample_type;
	struct rest rest = {.at = body(header), .bytes = body_bytes(header)};

	*ret = (struct sample_record){0};
	take_fixed(layout, &rest, ret);
	if (type & PERF_SAMPLE_READ)
		take_read(layout, &rest, ret);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		ret->count = take_word(&rest);
		ret->chain = (const uint64_t *)(const void *)take_many(&rest, ret->count, 8);
	}
	if (type & PERF_SAMPLE_RAW)
		take_raw(&rest, ret);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(layout, &rest);
	if (type & PERF_SAMPLE_REGS_USER)
		take_registers(layout, &rest, ret);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(&rest, ret);
	return !rest.failed;
}

/*
 * Records of BPF programs have a 32-bit size and then their kind, which is never 0, where a group
 * has its count.
 */
bool perf_record_group(const struct perf_event_header *header, struct sample_record *ret)
{
	static const struct perf_record_layout layout = {
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP,
	};

	return body_bytes(header) >= 32 && u32_at(body(header) + 28) == 0 &&
	       perf_record_sample(&layout, header, ret);
}

bool perf_record_task(const struct perf_record_layout *layout,
		      const struct perf_event_header *header, struct task_record *ret)
{
	const uint8_t *at = body(header);

	if (body_bytes(header) < 24u + layout->trailer_bytes)
		return false;
	ret->pid = (pid_t)u32_at(at);
	ret->parent_pid = (pid_t)u32_at(at + 4);
	ret->tid = (pid_t)u32_at(at + 8);
	ret->parent_tid = (pid_t)u32_at(at + 12);
	return true;
}

bool perf_record_comm(const struct perf_record_layout *layout,
		      const struct perf_event_header *header, struct comm_record *ret)
{
	const uint8_t *at = body(header);
	size_t n = body_bytes(header);

	if (n < 8u + layout->trailer_bytes || !memchr(at + 8, '\0', n - 8 - layout->trailer_bytes))
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
 * Linux sets the build id flag in records of events that did not request one if another event, of
 * anybody, did. A file written by perf inject has build ids that were not requested; there the size
 * is the usual one, which is not the number of any disk in use.
 */
static bool tells_build_id(const struct perf_record_layout *layout,
			   const struct perf_event_header *header)
{
	const uint8_t *size = body(header) + 32;

	return (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	       (layout->has_build_ids || u32_at(size) == 20);
}

/* What MMAP2 adds: either (maj min ino generation) or (size, build id), then prot flags. */
static void take_identity(const struct perf_record_layout *layout,
			  const struct perf_event_header *header, struct map_record *ret)
{
	const uint8_t *at = body(header) + 32;

	if (tells_build_id(layout, header)) {
		ret->build_id.size = at[0] <= 20 ? at[0] : 20;
		memcpy(ret->build_id.bytes, at + 4, ret->build_id.size);
	} else {
		ret->region.device = makedev(u32_at(at), u32_at(at + 4));
		ret->region.inode = u64_at(at + 8);
	}
}

/* pid tid addr len pgoff, the identity for MMAP2, and the name */
bool perf_record_map(const struct perf_record_layout *layout,
		     const struct perf_event_header *header, struct map_record *ret)
{
	const uint8_t *at = body(header);
	size_t n = body_bytes(header);
	bool is_second = header->type == PERF_RECORD_MMAP2;
	size_t fixed = is_second ? 64 : 32;
	const uint8_t *name = at + fixed;
	const uint8_t *name_end;
	bool executable;

	if (n < fixed + layout->trailer_bytes)
		return false;
	name_end = memchr(name, '\0', n - fixed - layout->trailer_bytes);
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
	if (is_second)
		take_identity(layout, header, ret);
	set_name(ret, (const char *)name, (size_t)(name_end - name));
	executable = is_second ? u32_at(at + 56) & PROT_EXEC
			       : !(header->misc & PERF_RECORD_MISC_MMAP_DATA);
	return executable && ret->region.start < ret->region.end;
}

uint64_t perf_record_lost(const struct perf_event_header *header)
{
	return body_bytes(header) < 16 ? 0 : u64_at(body(header) + 8);
}
