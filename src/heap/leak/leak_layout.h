/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_LAYOUT_H
#define WICK_HEAP_LEAK_LEAK_LAYOUT_H

/*
 * leak_layout: the memory of a process as a leak scan sees it: which ranges are roots, which belong
 * to the allocator, and which are no longer in use. docs/design/leaks.md has the rules.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "heap/leak/reach.h"

struct maps;
struct scan_hints;

/* A running or waiting thread. */
struct layout_thread {
	pid_t tid;
	uint64_t sp;
	uint64_t pointer; /* thread pointer; 0: unknown */
};

struct layout_input {
	const struct maps *maps;
	const struct scan_hints *inside; /* NULL: none */
	bool has_older; /* there are unknown older blocks: pointers may be anywhere in the heap */
	const struct layout_thread *threads;
	size_t thread_count;
	bool first_ended; /* the first thread has ended, others have not */
	pid_t pid;
	const struct reach_block *blocks; /* sorted by address */
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
