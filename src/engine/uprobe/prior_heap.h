/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_PRIOR_HEAP_H
#define WICK_ENGINE_UPROBE_PRIOR_HEAP_H

/* prior_heap: what a process holds when we come. */

#include <stdint.h>
#include <sys/types.h>

/*
 * The pages that it has written to of its heap and of private memory without a file, in bytes:
 * where allocators have their blocks, used and not. Stacks of threads are among it. 0 when it
 * cannot be read, or where more than 64 GiB of addresses (of 4 KiB pages) would have to be
 * looked at.
 */
uint64_t prior_heap_bytes(pid_t pid);

#endif
