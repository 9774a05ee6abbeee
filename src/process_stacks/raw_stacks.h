/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_RAW_STACKS_H
#define WICK_PROCESS_STACKS_RAW_STACKS_H

/*
 * raw_stacks: from stacks as raw addresses to the sink's ids, for engines that the kernel does not
 * notify of new mappings: these are read from /proc when a stack refers to unknown code.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/frame.h"

struct error;
struct interpreter;
struct process_tracker;
struct raw_stacks;
struct sink;
struct tracked_process;

/* In place of an address: frames are missing here. */
#define RAW_STACK_GAP 0ull

/* Addresses, leaf first. */
struct raw_stack {
	pid_t pid;
	uint64_t time_ns;
	const uint64_t *pcs;
	uint32_t count;
	const uint64_t *kernel_pcs;
	uint32_t kernel_count;
	enum unwind_end end;
	/*
	 * Calls of an interpreter, leaf first, which the interpreter has learnt; see
	 * language/language.h.
	 */
	const uint64_t *words;
	uint32_t word_count;
	bool words_cut;  /* there are more, towards the root */
	bool words_only; /* leave out native and kernel frames where there are calls */
	const struct interpreter *interpreter; /* only needed with words */
};

/* Borrows both. NULL if out of memory. */
struct raw_stacks *raw_stacks_new(struct sink *sink, struct process_tracker *tracker);
void raw_stacks_free(struct raw_stacks *stacks);

/* The id of a stack of a process, ID_NONE if out of memory. */
uint32_t raw_stacks_id(struct raw_stacks *stacks, const struct tracked_process *process,
		       const struct raw_stack *stack);

/*
 * Reads the map of a process that is known to have changed. New mappings that replaced others did
 * so at since_ns, or by now if that is 0. Returns whether any did.
 */
bool raw_stacks_learn(struct raw_stacks *stacks, pid_t pid, uint64_t since_ns);

/* The process has become another program, or is gone. */
void raw_stacks_forget(struct raw_stacks *stacks, pid_t pid);

/* Lets the sink free memory, between two drains. Returns what its trim returns. */
int raw_stacks_trim(struct raw_stacks *stacks, struct error *err);

/* The number of distinct stacks; 0 if some were forgotten and may be counted twice. */
uint64_t raw_stacks_unique(const struct raw_stacks *stacks);

#endif
