/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "proc/maps.h"

#define READ_BYTES ((size_t)64 * 1024)
#define GUARD_MOST_BYTES 65536u
#define ARENA_BYTES (64ull << 20) /* alignment of glibc's arenas; a full one ends in a guard */
#define KIB 1024u

enum part { PART_HEAP, PART_STACK, PART_FILE, PART_OWN, PART_REGION };

/* State between the lines of one mapping, and from one mapping to the next. */
struct parser {
	struct process_memory *ret;
	process_memory_own own;
	struct map_region region; /* the current one; its path is not set */
	enum part part;
	uint64_t resident_bytes; /* of it */
	bool open;               /* there is a current one */
	bool after_data;         /* the previous mapping is data of a file */
	enum part before;        /* its part */
	bool after_guard;
	uint64_t before_end; /* end of the previous mapping */
};

static bool has(const char *text, size_t size, const char *part)
{
	return memmem(text, size, part, strlen(part)) != NULL;
}

static bool is_own(const struct parser *parser, const char *path, size_t size)
{
	for (process_memory_own own = parser->own; own && *own; own++)
		if (has(path, size, *own))
			return true;
	return false;
}

static enum part part_of(const struct parser *parser, const char *path, size_t size)
{
	bool follows = parser->before_end == parser->region.start;
	bool is_plain =
		(parser->region.protection & (REGION_WRITE | REGION_SHARED)) == REGION_WRITE;
	size_t bare;
	enum region_kind kind = region_kind_of(path, size, &bare);

	if (kind == REGION_ANONYMOUS) {
		if (follows && is_plain && parser->after_guard &&
		    parser->region.start % ARENA_BYTES != 0)
			return PART_STACK;
		return follows && is_plain && parser->after_data ? parser->before : PART_REGION;
	}
	if (kind != REGION_SPECIAL)
		return is_own(parser, path, size) ? PART_OWN : PART_FILE;
	if (size == 6 && memcmp(path, "[heap]", 6) == 0)
		return PART_HEAP;
	if (has(path, size, "[stack") || has(path, size, "pthread stack"))
		return PART_STACK;
	return has(path, size, "[anon") ? PART_REGION : PART_FILE;
}

/* Keeps the largest ones; the others are summed. */
static void keep_region(struct process_memory *memory, const struct memory_region *region)
{
	struct memory_region *least = memory->regions;

	if (memory->region_count < MEMORY_MAX_REGIONS) {
		memory->regions[memory->region_count++] = *region;
		return;
	}
	for (size_t i = 1; i < MEMORY_MAX_REGIONS; i++)
		if (memory->regions[i].resident_bytes < least->resident_bytes)
			least = &memory->regions[i];
	if (region->resident_bytes <= least->resident_bytes) {
		memory->split.rest_bytes += region->resident_bytes;
		return;
	}
	memory->split.rest_bytes += least->resident_bytes;
	memmove(least, least + 1,
		(size_t)(memory->regions + MEMORY_MAX_REGIONS - 1 - least) * sizeof(*least));
	memory->regions[MEMORY_MAX_REGIONS - 1] = *region;
}

/* All lines of a mapping have been read. */
static void close_region(struct parser *parser)
{
	struct memory_split *split = &parser->ret->split;
	struct memory_region region = {.start = parser->region.start,
				       .size_bytes = parser->region.end - parser->region.start,
				       .resident_bytes = parser->resident_bytes};

	if (!parser->open)
		return;
	parser->open = false;
	parser->ret->resident_bytes += parser->resident_bytes;
	switch (parser->part) {
	case PART_HEAP:
		split->heap_size_bytes += region.size_bytes;
		split->heap_bytes += region.resident_bytes;
		break;
	case PART_STACK:
		split->stack_bytes += region.resident_bytes;
		break;
	case PART_FILE:
		split->file_bytes += region.resident_bytes;
		break;
	case PART_OWN:
		split->own_bytes += region.resident_bytes;
		break;
	case PART_REGION:
		if (region.resident_bytes > 0)
			keep_region(parser->ret, &region);
		break;
	}
}

static void open_region(struct parser *parser, const struct map_region *region, const char *path,
			size_t size)
{
	parser->region = *region;
	parser->part = part_of(parser, path, size);
	parser->resident_bytes = 0;
	parser->open = true;
	parser->before = parser->part;
	parser->after_data = size > 0 && (parser->part == PART_FILE || parser->part == PART_OWN) &&
			     (region->protection & (REGION_WRITE | REGION_SHARED)) == REGION_WRITE;
	parser->after_guard = size == 0 && (region->protection & ~REGION_SHARED) == 0 &&
			      region->end - region->start <= GUARD_MOST_BYTES;
	parser->before_end = region->end;
}

/* Whether a line of flags has one of two letters. */
static bool has_flag(const char *text, size_t size, const char *flag)
{
	for (size_t i = 0; i + 3 <= size; i++)
		if (text[i] == ' ' && memcmp(text + i + 1, flag, 2) == 0)
			return true;
	return false;
}

/* A detail of the mapping: "Rss:      12 kB", "VmFlags: rd wr mr mw me ac". */
static void take_detail(struct parser *parser, const char *line, size_t size)
{
	uint64_t kib = 0;

	if (size > 4 && memcmp(line, "Rss:", 4) == 0) {
		for (size_t i = 4; i < size && line[i] != 'k'; i++)
			if (line[i] >= '0' && line[i] <= '9' && kib < UINT64_MAX / KIB / 100)
				kib = kib * 10 + (uint64_t)(line[i] - '0');
		parser->resident_bytes = kib * KIB;
		return;
	}
	if (size <= 8 || memcmp(line, "VmFlags:", 8) != 0)
		return;
	if (parser->part != PART_FILE && has_flag(line, size, "rr") && has_flag(line, size, "dd"))
		parser->part = PART_OWN;
	/* The C library reserves memory for stacks, including their guards. */
	if (has_flag(line, size, "nr"))
		parser->after_guard = false;
}

static void take_line(struct parser *parser, const char *line, size_t size)
{
	struct map_region region = {0};
	const char *end = line + size;
	const char *at = line;

	/* Details begin with a capital letter, addresses do not. */
	if (size > 0 && line[0] >= 'A' && line[0] <= 'Z') {
		if (parser->open)
			take_detail(parser, line, size);
		return;
	}
	if (!map_region_parse(&at, end, &region) || region.start < parser->before_end)
		return;
	while (at < end && *at == ' ')
		at++;
	close_region(parser);
	open_region(parser, &region, at, (size_t)(end - at));
}

/* Parses the complete lines, or with is_end all. Returns the number of bytes used. */
static size_t take_lines(struct parser *parser, const char *text, size_t size, bool is_end)
{
	size_t used = 0;

	while (used < size) {
		const char *newline = memchr(text + used, '\n', size - used);

		if (!newline && !is_end)
			break;
		take_line(parser, text + used,
			  newline ? (size_t)(newline - text) - used : size - used);
		used = newline ? (size_t)(newline - text) + 1 : size;
	}
	return used;
}

void process_memory_parse_smaps(const char *text, size_t size, process_memory_own own,
				struct process_memory *ret)
{
	struct parser parser = {.ret = ret, .own = own};

	*ret = (struct process_memory){0};
	(void)take_lines(&parser, text, size, true);
	close_region(&parser);
}

int process_memory_parse_statm(const char *text, uint64_t page_bytes, struct process_memory *ret)
{
	uint64_t size;
	uint64_t resident;
	uint64_t shared;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &shared) != 3)
		return -EINVAL;
	ret->resident_bytes = resident * page_bytes;
	ret->shared_bytes = shared * page_bytes;
	return size == 0 ? -ESRCH : 0;
}

int process_memory_sum(int folder, struct process_memory *ret)
{
	char text[256];
	ssize_t n;
	SCOPED(fd) int fd = openat(folder, "statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = '\0';
	return process_memory_parse_statm(text, (uint64_t)sysconf(_SC_PAGESIZE), ret);
}

int process_memory_split(int folder, process_memory_own own, struct process_memory *ret)
{
	struct parser parser = {.ret = ret, .own = own};
	SCOPED(fd) int fd = openat(folder, "smaps", O_RDONLY | O_CLOEXEC);
	SCOPED(mem) char *text = malloc(READ_BYTES);
	size_t held = 0;
	ssize_t n;

	*ret = (struct process_memory){0};
	if (fd < 0 || !text)
		return fd >= 0 ? -ENOMEM : errno == ENOENT ? -ESRCH : -errno;
	while ((n = read(fd, text + held, READ_BYTES - held)) > 0) {
		size_t used = take_lines(&parser, text, held + (size_t)n, false);

		held = held + (size_t)n - used;
		if (held == READ_BYTES)
			return -EINVAL; /* no line of the kernel is that long */
		memmove(text, text + used, held);
	}
	if (n < 0)
		return -errno;
	close_region(&parser);
	return parser.before_end == 0 ? -ESRCH : 0;
}
