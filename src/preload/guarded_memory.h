/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_GUARDED_MEMORY_H
#define WICK_PRELOAD_GUARDED_MEMORY_H

/* guarded_memory: memory of our own between pages that cannot be touched, zero. */

#include <stdbool.h>
#include <stdint.h>

/* Memory as it is used. `wiped`: zero again in children. NULL when there is none. */
void *guarded_map(uint64_t bytes, bool wiped);
void guarded_unmap(void *memory, uint64_t bytes);

#endif
