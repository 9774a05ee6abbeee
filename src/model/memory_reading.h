/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_MEMORY_READING_H
#define WICK_MODEL_MEMORY_READING_H

/*
 * memory_reading: what the kernel reported about a process's memory at one moment.
 *
 * There are two kinds, which differ in cost. Each has its own time, and nothing is filled in
 * between: a sum is one line of /proc/PID/statm, a split is all of /proc/PID/smaps.
 */

#include <stddef.h>
#include <stdint.h>

enum memory_reading_kind {
	MEMORY_GONE = 0,  /* the process has ended: nothing from here on */
	MEMORY_SUM = 1,   /* resident_bytes and shared_bytes */
	MEMORY_SPLIT = 2, /* all but shared_bytes: the parts add up to resident_bytes */
	MEMORY_READING_KINDS
};

/* Memory without a file or a name: an allocator's, or mapped by the program itself. */
struct memory_region {
	uint64_t start;
	uint64_t size_bytes;
	uint64_t resident_bytes;
};

/* The largest regions are kept individually. */
#define MEMORY_MAX_REGIONS 128u

/* How a process's memory is divided. */
struct memory_split {
	uint64_t heap_size_bytes; /* of [heap], in addresses */
	uint64_t heap_bytes;      /* resident, like all that follow */
	uint64_t stack_bytes;     /* of all threads */
	uint64_t file_bytes;      /* programs, libraries with their variables, shared memory */
	uint64_t own_bytes;       /* the recorder's: absent without it */
	uint64_t rest_bytes;      /* memory like that of the regions, but in none of them */
};

struct memory_reading {
	uint32_t pid; /* with the next two, the process's identity */
	uint32_t exec_count;
	uint64_t start_ns;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum memory_reading_kind kind;
	uint64_t resident_bytes;
	uint64_t shared_bytes; /* of files and shared memory, by statm */
	struct memory_split split;
	const struct memory_region *regions; /* in order of their addresses */
	size_t region_count;
};

#endif
