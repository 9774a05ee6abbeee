/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_LAYOUT_H
#define WICK_HEAP_LEAK_LEAK_LAYOUT_H

/*
 * leak_layout: what the memory of a process is to a leak scan: which ranges are roots, which are
 * the allocator's, and which nobody looks at any more. docs/design/leaks.md has the rules.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "heap/leak/reach.h"

struct maps;
struct scan_hints;

/* A thread that runs, or waits. */
struct layout_thread {
	pid_t tid;
	uint64_t sp;
	uint64_t pointer; /* 0: not known */
};

struct layout_input {
	const struct maps *maps;
	const struct scan_hints *inside; /* NULL: nothing is known */
	bool has_older; /* blocks that are not known: the heap has pointers elsewhere too */
	const struct layout_thread *threads;
	size_t thread_count;
	bool first_ended; /* the first thread has, and others have not */
	pid_t pid;
	const struct reach_block *blocks; /* by address */
	size_t block_count;
	size_t (*read)(void *self, uint64_t address, void *buffer, size_t size);
	void *self;
	uint16_t red_zone; /* bytes below sp that a function may use */
};

/* Starts as zeros. */
struct leak_layout {
	VEC(struct reach_range) ranges;
	VEC(struct reach_file) files;
};

/* 0 or -ENOMEM. */
int leak_layout_make(struct leak_layout *layout, const struct layout_input *input);
void leak_layout_fini(struct leak_layout *layout);

#endif
