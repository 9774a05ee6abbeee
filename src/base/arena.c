/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) char data[];
};

void arena_fini(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct arena){0};
}

static void *take(struct arena *arena, size_t size, size_t align)
{
	size_t start = (arena->used + align - 1) & ~(align - 1);

	if (!arena->blocks || start + size > arena->blocks->size) {
		size_t want = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		struct arena_block *block = malloc(sizeof(*block) + want);

		if (!block)
			return NULL;
		block->next = arena->blocks;
		block->size = want;
		arena->blocks = block;
		start = 0;
	}
	arena->used = start + size;
	return arena->blocks->data + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return take(arena, size, alignof(max_align_t));
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
	char *copy = take(arena, n + 1, 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}
