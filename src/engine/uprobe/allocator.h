/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_ALLOCATOR_H
#define WICK_ENGINE_UPROBE_ALLOCATOR_H

/*
 * allocator: finds the module that allocates memory for a process, and its functions, as addresses
 * for probes. It places no probes.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/ebpf/heap_probes.h"
#include "wire/bpf_heap.h"

struct error;

struct allocator {
	char path[PATH_MAX]; /* path to open the file now */
	char name[PATH_MAX]; /* name of the file */
	uint64_t base;       /* runtime address - ELF vaddr */
	bool preferred;      /* another module has a malloc, too */
	uint32_t count;
	uint32_t stepped; /* probes of malloc and free whose instruction is not emulated */
	struct heap_probe probes[BPF_HEAP_FUNCTIONS];
	/*
	 * Of these functions, in the same order, and of other functions that call them internally.
	 */
	uint32_t range_count;
	struct bpf_heap_range ranges[BPF_HEAP_FUNCTIONS];
};

/* How likely a program uses the malloc of a module. */
enum allocator_rank {
	ALLOCATOR_NEVER,   /* the loader's private malloc */
	ALLOCATOR_LIBC,    /* a program with another malloc uses that one */
	ALLOCATOR_LIBRARY, /* takes precedence over the C library */
	ALLOCATOR_PROGRAM, /* the program itself takes precedence over all */
};

enum allocator_rank allocator_rank(const char *path, bool is_program);

/* Whether a module is the one that the user named, by its path or part of its name. */
bool allocator_is_named(const char *wish, const char *path);

/* The i-th function to search for: its name, shape and call; false past the last. */
bool allocator_function(uint32_t i, const char **ret_name, uint32_t *ret_shape, uint32_t *ret_call);

/* wish: the module that the user named; NULL: search. */
int allocator_find(pid_t pid, const char *wish, struct allocator *ret, struct error *err);

/* Whether a forked process still has this allocator, and has not executed another program. */
bool allocator_is_in(const struct allocator *allocator, pid_t pid);

#endif
