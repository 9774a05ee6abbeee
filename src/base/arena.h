/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_ARENA_H
#define WICK_BASE_ARENA_H

/*
 * arena: many small objects with one lifetime. Nothing is freed individually; pointers stay valid
 * until arena_fini().
 */

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used; /* in the newest block */
};

void arena_fini(struct arena *arena);

/* Returns size bytes aligned for any object, NULL if out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* Copies n bytes of text and ends them with NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t n);

#endif
