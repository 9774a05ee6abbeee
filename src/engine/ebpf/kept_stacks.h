/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_KEPT_STACKS_H
#define WICK_ENGINE_EBPF_KEPT_STACKS_H

/*
 * kept_stacks: frames of stacks that wait for a later record of the same thread.
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
	VEC(struct kept_stack) items; /* what came first stands first, mostly */
	size_t limit;                 /* beyond it the first half goes; 0: none */
};

void kept_stacks_fini(struct kept_stacks *stacks);

/* Keeps a copy in place of what was kept of the thread before. 0 or -ENOMEM. */
int kept_stacks_put(struct kept_stacks *stacks, uint32_t tid, const struct frame *frames, size_t n);
/* Adds what is known of the one that was put last. */
void kept_stacks_tell(struct kept_stacks *stacks, const struct stack_facts *facts);

/* Hands out what was kept of a thread, whose frames the caller frees. False when nothing was. */
bool kept_stacks_take(struct kept_stacks *stacks, uint32_t tid, struct kept_stack *ret);

#endif
