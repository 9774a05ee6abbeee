/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_GROUPS_H
#define WICK_HEAP_LEAK_LEAK_GROUPS_H

/* leak_groups: the results of a scan, with equal ones grouped. */

#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "model/leak.h"

struct reach_answer;
struct reach_block;

/* Starts as zeros. */
struct leak_groups {
	VEC(struct leak_group) groups;
	struct id_index index;
	uint64_t blocks;
	uint64_t bytes;
};

void leak_groups_fini(struct leak_groups *groups);

/* 0 or -ENOMEM. */
int leak_groups_add(struct leak_groups *groups, const struct reach_block *block,
		    const struct reach_answer *answer);

#endif
