/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_PRIOR_HEAP_H
#define WICK_ENGINE_UPROBE_PRIOR_HEAP_H

/* prior_heap: the heap of a process when recording starts. */

#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes in written pages of its heap and its private anonymous memory: where allocators keep their
 * blocks, used and free. Includes the stacks of threads. 0 if it cannot be read, or if more than 64
 * GiB of addresses (with 4 KiB pages) would have to be scanned.
 */
uint64_t prior_heap_bytes(pid_t pid);

#endif
