/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_MEMORY_H
#define WICK_PROC_PROCESS_MEMORY_H

/*
 * process_memory: how much memory a process has, and where: /proc/PID/statm and smaps.
 *
 * The first costs a microsecond or two however large the process is. For the second the kernel
 * looks at every page. What belongs to whom is told by names and by the neighbours:
 *
 *	heap     [heap]
 *	stacks   [stack], and memory without a name right above a guard of at most 64 KiB that
 *	         is reserved, which is how the C library makes stacks of threads
 *	own      paths with one of the given texts in them, and memory with the mark that the
 *	         library in the program gives its own (see src/wire/session.h)
 *	files    other paths, [vdso] and the like, and what follows the data of a file
 *	regions  all else: memory without a name
 *
 * The text is hostile: what makes no sense is passed over. Nothing is kept: any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/memory_reading.h"

struct process_memory {
	uint64_t resident_bytes;
	uint64_t shared_bytes;                            /* of process_memory_sum() alone */
	struct memory_split split;                        /* of process_memory_split() alone */
	struct memory_region regions[MEMORY_MAX_REGIONS]; /* in order of their addresses */
	size_t region_count;
};

/* Parts of paths that are the recorder's own, NULL last. */
typedef const char *const *process_memory_own;

/*
 * folder is a descriptor of /proc/PID: the process that it was opened for, whoever has its number
 * by now. Each returns 0 or -errno; -ESRCH when it has ended, or has no memory any more.
 */
int process_memory_sum(int folder, struct process_memory *ret);
int process_memory_split(int folder, process_memory_own own, struct process_memory *ret);

/* The same of their texts. Of statm 0 or -EINVAL. */
int process_memory_parse_statm(const char *text, uint64_t page_bytes, struct process_memory *ret);
void process_memory_parse_smaps(const char *text, size_t size, process_memory_own own,
				struct process_memory *ret);

#endif
