/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/vector_registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* Keeps words [from, end) that are not 0, behind those that were kept before. */
static size_t keep(uint64_t *words, size_t kept, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (words[i] != 0)
			words[kept++] = words[i];
	return kept;
}

/* Returns how many words the kernel has given. */
static size_t read_set(pid_t tid, uintptr_t set, uint64_t *ret)
{
	struct iovec room = {ret, VECTOR_REGISTERS_WORDS * sizeof(*ret)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)set, &room) < 0 ? 0
								     : room.iov_len / sizeof(*ret);
}

#if defined(__aarch64__)

#define PLAIN_WORDS 64u    /* 32 registers of 128 bits */
#define SVE_HEAD_WORDS 2u  /* struct user_sve_header */
#define SVE_FLAGS_SHIFT 32 /* of its second word: vl, max_vl, flags */
#define SVE_IN_USE 1u      /* else only the others are */

size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS])
{
	size_t words = read_set(tid, NT_ARM_SVE, ret);

	if (words > SVE_HEAD_WORDS && (ret[1] >> SVE_FLAGS_SHIFT & SVE_IN_USE))
		return keep(ret, 0, SVE_HEAD_WORDS, words);
	words = read_set(tid, NT_PRFPREG, ret);
	return keep(ret, 0, 0, words < PLAIN_WORDS ? words : PLAIN_WORDS);
}

#else

/*
 * The area of XSAVE: control words, registers of x87, MMX and SSE, room that is not used, a head,
 * and what later CPUs have.
 */
#define FIRST_WORD 4u   /* behind the control words */
#define UNUSED_WORD 52u /* behind xmm15 */
#define LATER_WORD 72u  /* behind the head */

size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS])
{
	size_t words = read_set(tid, NT_X86_XSTATE, ret);
	size_t kept;

	if (words < UNUSED_WORD) /* a CPU, or a kernel, without it */
		words = read_set(tid, NT_PRFPREG, ret);
	if (words < UNUSED_WORD)
		return 0;
	kept = keep(ret, 0, FIRST_WORD, UNUSED_WORD);
	return keep(ret, kept, LATER_WORD, words);
}

#endif
