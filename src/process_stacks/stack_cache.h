/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_STACK_CACHE_H
#define WICK_PROCESS_STACKS_STACK_CACHE_H

/*
 * stack_cache: from the raw addresses of a stack to the id it got before.
 *
 * Most samples repeat a stack. A hit saves resolving and interning its frames.
 * The context says what the addresses mean (process, generation of its map): the
 * same addresses under another context are another stack. Equal hashes are
 * confirmed by comparing the addresses.
 */

#include <stddef.h>
#include <stdint.h>

struct stack_cache;

struct stack_cache *stack_cache_new(void); /* NULL without memory */
void stack_cache_free(struct stack_cache *cache);

/* The id of the stack, ID_NONE when it is not known. */
uint32_t stack_cache_find(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
			  size_t n);

/*
 * Files the stack that stack_cache_find() did not know just now. Forgets all
 * older ones when memory gets short; never fails, at worst it does not remember.
 */
void stack_cache_add(struct stack_cache *cache, uint64_t context, const uint64_t *addresses,
		     size_t n, uint32_t id);

/* Forgets all: their ids are void. */
void stack_cache_clear(struct stack_cache *cache);

/* How many stacks were filed since the start; 0 when some were forgotten and may be the same. */
uint64_t stack_cache_added(const struct stack_cache *cache);

#endif
