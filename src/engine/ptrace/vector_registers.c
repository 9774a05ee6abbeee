/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/vector_registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

size_t vector_registers_keep(uint64_t *words, size_t kept, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (words[i] != 0)
			words[kept++] = words[i];
	return kept;
}

size_t vector_registers_set(pid_t tid, uintptr_t set, uint64_t *ret)
{
	struct iovec room = {ret, VECTOR_REGISTERS_WORDS * sizeof(*ret)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)set, &room) < 0 ? 0
								     : room.iov_len / sizeof(*ret);
}
