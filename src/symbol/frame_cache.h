/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_FRAME_CACHE_H
#define WICK_SYMBOL_FRAME_CACHE_H

/*
 * frame_cache: the answers given last, by module and address, up to a number of them.
 * The one that was used longest ago makes room for a new one.
 *
 * Texts of frames are borrowed. One thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

struct frame_cache;
struct symbol_frame;

struct frame_cache *frame_cache_new(uint32_t capacity); /* NULL without memory */
void frame_cache_free(struct frame_cache *cache);       /* NULL is fine */
void frame_cache_clear(struct frame_cache *cache);

/*
 * The frames of an address, NULL when they are not there. Valid until something is
 * added; *ret_tag is what was filed with them.
 */
const struct symbol_frame *frame_cache_find(struct frame_cache *cache, uint32_t module_id,
					    uint64_t address, size_t *ret_count, int *ret_tag);

/* Files a copy of the frames and returns it, NULL without memory. Not there yet. */
const struct symbol_frame *frame_cache_add(struct frame_cache *cache, uint32_t module_id,
					   uint64_t address, const struct symbol_frame *frames,
					   size_t count, int tag);

#endif
