/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_KEPT_STACKS_H
#define WICK_ENGINE_EBPF_KEPT_STACKS_H

/*
 * kept_stacks: frames of stacks, kept until a later record of the same thread needs them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "engine/perf/stack_facts.h"
#include "model/entity.h"

struct kept_stack {
	uint32_t tid;
	size_t count;
	struct frame *frames; /* the root first */
	struct stack_facts facts;
};

struct kept_stacks {
	VEC(struct kept_stack) items; /* mostly in the order in which they were put */
	size_t limit;                 /* when it is reached the first half is dropped; 0: none */
};

void kept_stacks_fini(struct kept_stacks *stacks);

/* Keeps a copy, which replaces the thread's earlier one. Returns 0 or -ENOMEM. */
int kept_stacks_put(struct kept_stacks *stacks, uint32_t tid, const struct frame *frames, size_t n);
/* Sets the facts of the stack that was put last. */
void kept_stacks_set_facts(struct kept_stacks *stacks, const struct stack_facts *facts);

/* Removes the stack of a thread; the caller frees its frames. False: none was kept. */
bool kept_stacks_take(struct kept_stacks *stacks, uint32_t tid, struct kept_stack *ret);

#endif
