/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_MEMORY_H
#define WICK_PROC_PROCESS_MEMORY_H

/*
 * process_memory: how much memory a process has, and where: /proc/PID/statm and smaps.
 *
 * The first costs a microsecond or two regardless of the size of the process. For the second the
 * kernel walks every page. Names and neighbours show what memory is used for:
 *
 *	heap     [heap]
 *	stacks   [stack], and memory without a name right above a reserved guard of at most
 *	         64 KiB, which is how the C library creates thread stacks
 *	own      paths that contain one of the given texts, and memory with the mark of our
 *	         library in the program (see src/wire/session.h)
 *	files    other paths, [vdso] and the like, and what follows the data of a file
 *	regions  everything else: memory without a name
 *
 * The text is not trusted: invalid lines are skipped. Nothing is kept: any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/memory_reading.h"

struct process_memory {
	uint64_t resident_bytes;
	uint64_t shared_bytes;                            /* only from process_memory_sum() */
	struct memory_split split;                        /* only from process_memory_split() */
	struct memory_region regions[MEMORY_MAX_REGIONS]; /* in order of address */
	size_t region_count;
};

/* Parts of paths that belong to the recorder, NULL last. */
typedef const char *const *process_memory_own;

/*
 * folder is a descriptor of /proc/PID: it refers to the process it was opened for, even if the pid
 * was reused. Each returns 0 or -errno; -ESRCH if the process has ended or no longer has memory.
 */
int process_memory_sum(int folder, struct process_memory *ret);
int process_memory_split(int folder, process_memory_own own, struct process_memory *ret);

/* The same from their texts. For statm 0 or -EINVAL. */
int process_memory_parse_statm(const char *text, uint64_t page_bytes, struct process_memory *ret);
void process_memory_parse_smaps(const char *text, size_t size, process_memory_own own,
				struct process_memory *ret);

#endif
