/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_C_BLOCKS_H
#define WICK_PYTHON_C_BLOCKS_H

/*
 * c_blocks: blocks that C code allocates with malloc() and the like. Those that Python's allocators
 * ask for are left out: they are recorded as Python's.
 *
 * They are seen through the preload library if the process has it, else through the tables by which
 * modules call the C library: got.h.
 *
 * Threads: any, with or without a Python state or the GIL. The functions keep errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins to see them. Returns 0, or -ENOSYS: nothing can be hooked. With the GIL. */
int c_blocks_begin(void);
void c_blocks_end(void);
/* Hooks modules that were loaded since; are_new: there may be some. */
void c_blocks_hook_new_modules(bool are_new);

/* NULL: the request failed. `caller` is the return address of malloc() or the like. */
void c_blocks_allocated(void *block, size_t size, uint64_t caller);
/* Before the block is released. */
void c_blocks_freeing(void *block);
/* Before realloc(); followed by c_blocks_allocated(), or by c_blocks_stayed() if it failed. */
void c_blocks_moving(void *block);
void c_blocks_stayed(void *block);

#endif
