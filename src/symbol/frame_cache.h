/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_FRAME_CACHE_H
#define WICK_SYMBOL_FRAME_CACHE_H

/*
 * frame_cache: the latest results by module and address, up to a limit. The least recently used one
 * makes room for a new one.
 *
 * Texts of frames are borrowed. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

struct frame_cache;
struct symbol_frame;

struct frame_cache *frame_cache_new(uint32_t capacity); /* NULL if out of memory */
void frame_cache_free(struct frame_cache *cache);       /* NULL is fine */
void frame_cache_clear(struct frame_cache *cache);

/*
 * The frames of an address, NULL if they are not cached. Valid until something is added; *ret_tag
 * is the tag they were added with.
 */
const struct symbol_frame *frame_cache_find(struct frame_cache *cache, uint32_t module_id,
					    uint64_t address, size_t *ret_count, int *ret_tag);

/* Adds a copy of the frames and returns it, NULL if out of memory. They must not be cached yet. */
const struct symbol_frame *frame_cache_add(struct frame_cache *cache, uint32_t module_id,
					   uint64_t address, const struct symbol_frame *frames,
					   size_t count, int tag);

#endif
