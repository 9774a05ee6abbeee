/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_OWN_MEMORY_H
#define WICK_PRELOAD_OWN_MEMORY_H

/*
 * own_memory: marks our own mappings, so that the recorder does not count them as the program's:
 * see wire/session.h. Core dumps leave them out as well.
 */

#include <sys/mman.h>

#include "safe/syscall.h"

/* If the kernel refuses, the memory counts as the program's. */
static inline void own_memory_mark(long address, long bytes)
{
	(void)safe_syscall(SYS_madvise, address, bytes, MADV_RANDOM);
	(void)safe_syscall(SYS_madvise, address, bytes, MADV_DONTDUMP);
}

#endif
