/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_GUARDED_MEMORY_H
#define WICK_PRELOAD_GUARDED_MEMORY_H

/* guarded_memory: zeroed memory of our own between guard pages. */

#include <stdbool.h>
#include <stdint.h>

/* Pages are allocated on first use. `wiped`: zeroed in children. NULL: out of memory. */
void *guarded_map(uint64_t bytes, bool wiped);
void guarded_unmap(void *memory, uint64_t bytes);

#endif
