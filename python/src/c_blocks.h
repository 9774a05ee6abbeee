/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_C_BLOCKS_H
#define WICK_PYTHON_C_BLOCKS_H

/*
 * c_blocks: blocks that C code allocates with malloc() and related functions. Blocks that Python's
 * allocators request are left out, because they are recorded as Python's.
 *
 * The calls are seen through the preload library if it is loaded, otherwise through the global
 * offset tables of the modules (got.h).
 *
 * Threads: any, with or without a Python thread state or the GIL. The functions preserve errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hooks the functions. Returns 0, or -ENOSYS if nothing can be hooked. Call with the GIL held. */
int c_blocks_begin(void);
void c_blocks_end(void);
/* Hooks modules that were loaded since the last call. are_new: there may be some. */
void c_blocks_hook_new_modules(bool are_new);

/* block is NULL if the request failed. `caller` is the address that malloc() returns to. */
void c_blocks_allocated(void *block, size_t size, uint64_t caller);
/* Call before the block is freed. */
void c_blocks_freeing(void *block);
/* Call before realloc(), then c_blocks_allocated(), or c_blocks_stayed() if realloc() failed. */
void c_blocks_moving(void *block);
void c_blocks_stayed(void *block);

#endif
