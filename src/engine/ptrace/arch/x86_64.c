/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/arch/thread_arch.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "engine/ptrace/inject.h"
#include "engine/ptrace/vector_registers.h"

/* A call may be inside another instruction: a thread that starts there makes the call. */
const struct thread_arch_call thread_arch_call = {
	.code = {0x0f, 0x05}, /* syscall */
	.bytes = 2,
	.step_bytes = 1,
};

void thread_arch_aim(struct user_regs_struct *registers, uint64_t address,
		     const struct inject_call *call)
{
	registers->rip = address;
	registers->rax = (unsigned long long)call->number;
	registers->orig_rax = ~0ull; /* it is not in a call that could be restarted */
	registers->rdi = (unsigned long long)call->arguments[0];
	registers->rsi = (unsigned long long)call->arguments[1];
	registers->rdx = (unsigned long long)call->arguments[2];
	registers->r10 = (unsigned long long)call->arguments[3];
	registers->r8 = (unsigned long long)call->arguments[4];
	registers->r9 = (unsigned long long)call->arguments[5];
}

long thread_arch_result(const struct user_regs_struct *registers)
{
	return (long)registers->rax;
}

/* When the thread resumes, the kernel checks the result of the call, which is restored. */
void thread_arch_settle(struct user_regs_struct *registers, const char *sleeps)
{
	(void)registers;
	(void)sleeps;
}

uint64_t thread_arch_pointer(pid_t tid)
{
	struct user_regs_struct registers;
	struct iovec room = {&registers, sizeof(registers)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &room) < 0
		       ? 0
		       : registers.fs_base;
}

/*
 * The XSAVE area: control words, registers of x87, MMX and SSE, unused space, a header, and
 * registers of later CPUs.
 */
#define FIRST_WORD 4u   /* after the control words */
#define UNUSED_WORD 52u /* after xmm15 */
#define LATER_WORD 72u  /* after the header */

size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS])
{
	size_t words = vector_registers_set(tid, NT_X86_XSTATE, ret);
	size_t kept;

	if (words < UNUSED_WORD) /* a CPU, or a kernel, without it */
		words = vector_registers_set(tid, NT_PRFPREG, ret);
	if (words < UNUSED_WORD)
		return 0;
	kept = vector_registers_keep(ret, 0, FIRST_WORD, UNUSED_WORD);
	return vector_registers_keep(ret, kept, LATER_WORD, words);
}
