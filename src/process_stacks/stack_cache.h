/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_STACK_CACHE_H
#define WICK_PROCESS_STACKS_STACK_CACHE_H

/*
 * stack_cache: from the raw addresses of a stack to its existing id.
 *
 * Most samples repeat a stack. A hit saves resolving and interning its frames. The context defines
 * what the addresses mean (process, generation of its map): the same addresses in another context
 * are another stack. Equal hashes are confirmed by comparing the addresses.
 */

#include <stddef.h>
#include <stdint.h>

struct stack_cache;

struct stack_cache *stack_cache_new(void); /* NULL if out of memory */
void stack_cache_free(struct stack_cache *cache);

/* The id of the stack, ID_NONE if it is unknown. */
uint32_t stack_cache_find(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
			  size_t n);

/*
 * Adds the stack that stack_cache_find() just did not find. Forgets all older ones when memory gets
 * short; never fails, at worst the stack is not cached.
 */
void stack_cache_add(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
		     size_t n, uint32_t id);

/* Forgets everything: the ids are invalid. */
void stack_cache_clear(struct stack_cache *cache);

/* The number of stacks added since the start; 0 if some were forgotten and may be counted twice. */
uint64_t stack_cache_added(const struct stack_cache *cache);

#endif
