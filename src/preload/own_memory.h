/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_OWN_MEMORY_H
#define WICK_PRELOAD_OWN_MEMORY_H

/*
 * own_memory: marks what was mapped for our own use, so that the recorder does not count it as
 * the program's: see wire/session.h. Dumps of the program's core do without it as well.
 */

#include <sys/mman.h>

#include "safe/syscall.h"

/* Where the kernel refuses it, the memory counts as the program's. */
static inline void own_memory_mark(long address, long bytes)
{
	(void)safe_syscall(SYS_madvise, address, bytes, MADV_RANDOM);
	(void)safe_syscall(SYS_madvise, address, bytes, MADV_DONTDUMP);
}

#endif
