/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"
#include "proc/process_info.h"

/*
 * The kernel limits a path to PATH_MAX; each byte of it may be a newline, which takes four
 * characters. A longer line is not from the kernel.
 */
#define MAX_PATH_TEXT ((size_t)4 * 4096)

/*
 * The kernel returns a page of text for each read, regardless of the size; more room only avoids
 * growing the buffer.
 */
#define READ_BYTES ((size_t)64 * 1024)

/* A process may have 65,530 regions by default; this allows for many times that. */
#define MAX_TEXT ((size_t)1 << 30)

/* Reads hex digits and the one character that must follow. */
static bool take_hex(const char **at, const char *end, char follower, uint64_t *ret)
{
	const char *p = *at;
	const char *limit = end - p > 16 ? p + 16 : end;
	uint64_t value = 0;

	for (; p < limit; p++) {
		unsigned int digit = number_hex_digit(*p);

		if (digit > 15)
			break;
		value = value << 4 | digit;
	}
	if (p == *at || p == end || *p != follower)
		return false;
	*ret = value;
	*at = p + 1;
	return true;
}

/* Reads a decimal number that a space or the end of the line ends. */
static bool take_inode(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t value = 0;

	for (; p < end && *p != ' '; p++) {
		unsigned int digit = (unsigned int)(unsigned char)*p - '0';

		if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (p == *at)
		return false;
	*ret = value;
	*at = p;
	return true;
}

static bool take_protection(const char **at, const char *end, uint32_t *ret)
{
	static const char letters[] = "rwx";
	const char *p = *at;
	uint32_t protection = 0;

	if (end - p < 5 || p[4] != ' ')
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		if (p[i] == letters[i])
			protection |= 1u << i;
		else if (p[i] != '-')
			return false;
	}
	if (p[3] == 's' || p[3] == 'S')
		protection |= REGION_SHARED;
	else if (p[3] != 'p')
		return false;
	*ret = protection;
	*at = p + 5;
	return true;
}

bool map_region_parse(const char **at, const char *end, struct map_region *region)
{
	uint64_t major_number;
	uint64_t minor_number;

	if (!take_hex(at, end, '-', &region->start) || !take_hex(at, end, ' ', &region->end) ||
	    !take_protection(at, end, &region->protection) ||
	    !take_hex(at, end, ' ', &region->file_offset) ||
	    !take_hex(at, end, ':', &major_number) || !take_hex(at, end, ' ', &minor_number) ||
	    !take_inode(at, end, &region->inode))
		return false;
	region->device = makedev((unsigned int)major_number, (unsigned int)minor_number);
	return region->start < region->end;
}

static bool starts_with(const char *text, size_t size, const char *start)
{
	size_t n = strlen(start);

	return size >= n && !memcmp(text, start, n);
}

static enum region_kind kind_of(const char *path, size_t size, bool deleted)
{
	if (size == 0)
		return REGION_ANONYMOUS;
	if (path[0] == '/') {
		if (!deleted)
			return REGION_FILE;
		if (starts_with(path, size, "/memfd:"))
			return REGION_MEMFD;
		/* Shared memory without a file is on the kernel's own hidden tmpfs. */
		if ((size == 9 && !memcmp(path, "/dev/zero", 9)) ||
		    starts_with(path, size, "/SYSV") || starts_with(path, size, "/anon_hugepage"))
			return REGION_SPECIAL;
		return REGION_DELETED;
	}
	if (size == 6 && !memcmp(path, "[vdso]", 6))
		return REGION_VDSO;
	if (size == 10 && !memcmp(path, "[vsyscall]", 10))
		return REGION_VSYSCALL;
	if (path[0] == '[' || starts_with(path, size, "anon_inode:"))
		return REGION_SPECIAL;
	return deleted ? REGION_DELETED : REGION_FILE;
}

enum region_kind region_kind_of(const char *name, size_t size, size_t *ret_bare)
{
	static const char deleted_mark[] = " (deleted)";
	const size_t mark = sizeof(deleted_mark) - 1;
	bool deleted = size > mark && !memcmp(name + size - mark, deleted_mark, mark);

	*ret_bare = deleted ? size - mark : size;
	return kind_of(name, *ret_bare, deleted);
}

static char *unescape(struct arena *arena, const char *text, size_t size)
{
	char *copy = arena_strndup(arena, text, size);
	char *from = copy ? memchr(copy, '\\', size) : NULL;

	if (!from)
		return copy;
	char *to = from;
	while (*from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return copy;
}

/* The path of the previous line: the regions of one file are consecutive. */
struct last_path {
	const char *text;
	size_t size;
	const char *path;
	enum region_kind kind;
};

static int set_path(struct maps *maps, struct map_region *region, const char *text, size_t size,
		    struct last_path *last)
{
	if (size != last->size || memcmp(text, last->text, size) != 0) {
		size_t bare;
		enum region_kind kind = region_kind_of(text, size, &bare);
		const char *path = unescape(&maps->text, text, bare);

		if (!path)
			return -ENOMEM;
		*last = (struct last_path){text, size, path, kind};
	}
	region->path = last->path;
	region->kind = last->kind;
	return 0;
}

int maps_parse(struct maps *maps, const char *text, size_t size, unsigned int options)
{
	struct last_path last = {.text = "", .path = "", .kind = REGION_ANONYMOUS};
	const char *end = text + size;
	uint64_t floor = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		const char *at = text;
		struct map_region region = {0};

		text = newline ? newline + 1 : end;
		if (!map_region_parse(&at, line_end, &region) || region.start < floor) {
			maps->bad_lines++;
			continue;
		}
		while (at < line_end && *at == ' ')
			at++;
		size_t path_bytes = (size_t)(line_end - at);
		if (path_bytes > MAX_PATH_TEXT || memchr(at, '\0', path_bytes)) {
			maps->bad_lines++;
			continue;
		}
		floor = region.end;
		if ((options & MAPS_EXECUTABLE_ONLY) && !(region.protection & REGION_EXEC))
			continue;
		if (set_path(maps, &region, at, path_bytes, &last) < 0 ||
		    vec_push(maps, region) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_text(int fd, struct bytes *text)
{
	for (;;) {
		uint8_t *room = bytes_reserve(text, READ_BYTES);

		if (!room)
			return -ENOMEM;
		ssize_t n = read(fd, room, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		text->size += (size_t)n;
		if (text->size > MAX_TEXT)
			return -EFBIG;
	}
}

/* Appends /proc/PID/maps, for a thread or a process. */
static int read_maps_of(pid_t pid, struct bytes *text)
{
	char path[64];

	process_path(path, sizeof(path), pid, "maps");
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : read_text(fd, text);
}

/*
 * A main thread that has ended has no memory any more; that of the process can then be read from
 * its other threads.
 */
static int read_maps(pid_t pid, struct bytes *text, struct error *err)
{
	struct pid_list threads = {0};
	int r = read_maps_of(pid, text);

	if (r < 0)
		return process_error(err, r, pid, "memory map");
	if (text->size == 0 && process_list_threads(pid, &threads, NULL) == 0)
		for (size_t i = 0; i < threads.count && text->size == 0 && r == 0; i++)
			if (threads.items[i] != pid)
				r = read_maps_of(threads.items[i], text);
	vec_fini(&threads);
	return r == -ENOMEM ? r : 0; /* a thread may end meanwhile */
}

int maps_read(struct maps *maps, pid_t pid, unsigned int options, struct error *err)
{
	struct bytes text = {0};
	int r = read_maps(pid, &text, err);

	if (r == 0 && maps_parse(maps, (const char *)text.data, text.size, options) < 0)
		r = error_set(err, -ENOMEM, "out of memory reading the map of process %d",
			      (int)pid);
	bytes_fini(&text);
	return r;
}

/* "start-end rwxp …": executable lines count completely, all others not at all. */
uint64_t maps_code_fingerprint_parse(const char *text, size_t size)
{
	const char *end = text + size;
	uint64_t fingerprint = 1;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = newline ? (size_t)(newline - text) + 1 : (size_t)(end - text);
		const char *space = memchr(text, ' ', length);

		if (space && (size_t)(space - text) + 3 < length && space[3] == 'x')
			fingerprint = hash_pair(
				fingerprint, XXH3_64bits_withSeed(text, length, hash_seed.first));
		text += length;
	}
	return fingerprint;
}

uint64_t maps_code_fingerprint(pid_t pid)
{
	struct bytes text = {0};
	uint64_t fingerprint = 0;

	if (read_maps(pid, &text, NULL) == 0 && text.size > 0)
		fingerprint = maps_code_fingerprint_parse((const char *)text.data, text.size);
	bytes_fini(&text);
	return fingerprint;
}

void maps_fini(struct maps *maps)
{
	arena_fini(&maps->text);
	vec_fini(maps);
	maps->bad_lines = 0;
}

const struct map_region *maps_find(const struct maps *maps, uint64_t address)
{
	size_t low = 0;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->count || address < maps->items[low].start)
		return NULL;
	return &maps->items[low];
}

const char *region_kind_name(enum region_kind kind)
{
	static const char *const names[] = {
		[REGION_FILE] = "file",           [REGION_DELETED] = "deleted",
		[REGION_MEMFD] = "memfd",         [REGION_VDSO] = "vdso",
		[REGION_VSYSCALL] = "vsyscall",   [REGION_SPECIAL] = "special",
		[REGION_ANONYMOUS] = "anonymous",
	};

	return (size_t)kind < ARRAY_SIZE(names) ? names[kind] : "unknown";
}
