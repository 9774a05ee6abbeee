/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ALLOCATORS_H
#define WICK_HEAP_ALLOCATORS_H

/*
 * allocators: functions that allocate on behalf of others: the allocator, operator new, the C
 * library, the standard libraries of C++ and Rust, in their own file or inlined, wrappers that many
 * programs have (xmalloc(), g_malloc() …), and those that the user names: the facts ALLOCATORS_FACT
 * of the profile, which are regular expressions.
 */

#include <regex.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/profile.h"

#define ALLOCATORS_FACT "alloc_fn"

struct allocators {
	const struct profile *profile; /* borrowed */
	VEC(regex_t) chosen;           /* named by the user */
	VEC(int8_t) known;             /* by function: 0 not checked yet, 1 yes, -1 no */
};

int allocators_init(struct allocators *allocators, const struct profile *profile); /* or -ENOMEM */
void allocators_fini(struct allocators *allocators);

/* Whether a function of the profile is an allocator. */
bool allocators_has(struct allocators *allocators, uint32_t function);

/*
 * A stack of the profile as lines, innermost first; inlined functions are separate lines. The place
 * is the first line that is not in an allocator, 0 if all are. In a program of an interpreted
 * language it is the first line of that: native functions allocate on its behalf.
 */
struct allocation_line {
	uint32_t line; /* of the profile */
	bool is_inlined;
	bool allocates;
};

struct allocation_lines {
	VEC(struct allocation_line) items;
	size_t place;
};

/* Replaces the contents of ret with at most this many lines. 0 or -ENOMEM. */
int allocators_lines(struct allocators *allocators, uint32_t stack, size_t most,
		     struct allocation_lines *ret);

#endif
