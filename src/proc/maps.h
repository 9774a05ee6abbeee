/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_MAPS_H
#define WICK_PROC_MAPS_H

/*
 * maps: the memory map of a process from /proc/PID/maps, at one moment.
 *
 * The text is not trusted: lines that are invalid, overlap or are out of order are skipped and
 * counted, so the regions are always sorted and disjoint. proc/module_file identifies mapped files;
 * proc/address_space keeps how a map changes over time.
 *
 * The kernel writes a newline in a path as \012 and leaves all other bytes unchanged, including a
 * backslash: a file name that really contains the four characters \012 cannot be distinguished and
 * is read as a newline.
 *
 * A struct maps is used by one thread at a time; any number of threads may read it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"

struct error;

enum region_kind {
	REGION_FILE,     /* a file with a name */
	REGION_DELETED,  /* a file whose name is gone or now refers to another file */
	REGION_MEMFD,    /* memfd_create(); path is /memfd:name */
	REGION_VDSO,     /* [vdso] */
	REGION_VSYSCALL, /* [vsyscall] */
	REGION_SPECIAL, /* [heap], [stack], [anon:name], anon_inode:…, shared memory without a file
			 */
	REGION_ANONYMOUS, /* memory without a name; path is "" */
};

/* Protection bits of a region. */
#define REGION_READ 1u
#define REGION_WRITE 2u
#define REGION_EXEC 4u
#define REGION_SHARED 8u

struct map_region {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset; /* of start */
	uint64_t device;      /* as from makedev() */
	uint64_t inode;       /* 0: no file, or unknown */
	const char *path;     /* unescaped, without " (deleted)"; never NULL */
	enum region_kind kind;
	uint32_t protection; /* REGION_READ … */
	uint64_t mapped_ns; /* when it existed at the latest, CLOCK_MONOTONIC; 0: now, or unknown */
};

struct maps {
	struct map_region *items; /* sorted by start, disjoint */
	size_t count;
	size_t capacity;
	size_t bad_lines;  /* skipped */
	struct arena text; /* the paths */
};

/* Options of maps_parse() and maps_read(). */
#define MAPS_EXECUTABLE_ONLY 1u

/*
 * Replaces what was in maps before: starts from zeroed maps. The caller releases them with
 * maps_fini(), even after a failure. The text is not kept and need not end with a newline. Fails
 * only if out of memory.
 */
int maps_parse(struct maps *maps, const char *text, size_t size, unsigned int options);

/*
 * Parses everything on a line except its path, which begins after *at and some spaces. False if it
 * is not such a line.
 */
bool map_region_parse(const char **at, const char *end, struct map_region *region);

/* Reads and parses /proc/PID/maps; pid 0 means this process. */
int maps_read(struct maps *maps, pid_t pid, unsigned int options, struct error *err);
void maps_fini(struct maps *maps);

/*
 * A number that changes when executable memory changes: cheaper than reading the maps to compare
 * them. 0 if the process is gone.
 */
uint64_t maps_code_fingerprint(pid_t pid);
uint64_t maps_code_fingerprint_parse(const char *text, size_t size);

/* The region that contains address, or NULL. */
const struct map_region *maps_find(const struct maps *maps, uint64_t address);

/*
 * The kind that a name from the kernel implies; its first *ret_bare bytes are the path without "
 * (deleted)".
 */
enum region_kind region_kind_of(const char *name, size_t size, size_t *ret_bare);

const char *region_kind_name(enum region_kind kind); /* "file", "deleted" … */

#endif
