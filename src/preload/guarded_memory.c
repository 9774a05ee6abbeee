/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/guarded_memory.h"

#include <stddef.h>
#include <sys/mman.h>

#include "preload/own_memory.h"
#include "safe/syscall.h"

#define GUARD_BYTES 65536ull /* a multiple of all page sizes that there are */

static uint64_t whole(uint64_t bytes)
{
	return (bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
}

void *guarded_map(uint64_t bytes, bool wiped)
{
	long address = safe_syscall(SYS_mmap, 0, (long)(whole(bytes) + 2 * GUARD_BYTES), PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address < 0 && address > -4096)
		return NULL;
	address += (long)GUARD_BYTES;
	if (safe_syscall(SYS_mprotect, address, (long)whole(bytes), PROT_READ | PROT_WRITE) < 0)
		return NULL;
	if (wiped) /* if the kernel cannot, only children reported by fork() are handled */
		(void)safe_syscall(SYS_madvise, address, (long)whole(bytes), MADV_WIPEONFORK);
	own_memory_mark(address, (long)whole(bytes));
	return (void *)address;
}

void guarded_unmap(void *memory, uint64_t bytes)
{
	(void)safe_syscall(SYS_munmap, (long)((uint64_t)(uintptr_t)memory - GUARD_BYTES),
			   (long)(whole(bytes) + 2 * GUARD_BYTES));
}
