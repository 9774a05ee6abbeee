/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_ALLOCATOR_H
#define WICK_ENGINE_UPROBE_ALLOCATOR_H

/*
 * allocator: which module of a process gives it its memory, and where the functions of it
 * are. Knows nothing of probes but their places.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/ebpf/heap_probes.h"
#include "wire/bpf_heap.h"

struct error;

struct allocator {
	char path[PATH_MAX]; /* the file can be opened by it now */
	char name[PATH_MAX]; /* and is known by that */
	uint64_t base;       /* runtime address - ELF vaddr */
	bool preferred;      /* there is another with a malloc, too */
	uint32_t count;
	struct heap_probe probes[BPF_HEAP_FUNCTIONS];
	/* Of these functions, in the same order, and of what else calls them for itself. */
	uint32_t range_count;
	struct bpf_heap_range ranges[BPF_HEAP_FUNCTIONS];
};

/* How likely a module with a malloc of its own is the one that a program uses. */
enum allocator_rank {
	ALLOCATOR_NEVER,   /* the loader has one for itself */
	ALLOCATOR_LIBC,    /* whoever brings another wants that */
	ALLOCATOR_LIBRARY, /* made to come before the C library */
	ALLOCATOR_PROGRAM, /* nothing comes before the program itself */
};

enum allocator_rank allocator_rank(const char *path, bool is_program);

/* Whether a module is the one that a person has named, by its path or a part of its name. */
bool allocator_is_named(const char *wish, const char *path);

/* The i-th function that is looked for: its name, shape and call; false past the last. */
bool allocator_function(uint32_t i, const char **ret_name, uint32_t *ret_shape, uint32_t *ret_call);

/* wish: what a person has named; NULL: it is looked for. */
int allocator_find(pid_t pid, const char *wish, struct allocator *ret, struct error *err);

/* Whether another process, forked by the first, has the same there and not another program. */
bool allocator_is_in(const struct allocator *allocator, pid_t pid);

#endif
