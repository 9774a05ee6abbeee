/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/arch/thread_arch.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <linux/futex.h>

#include "engine/ptrace/inject.h"
#include "engine/ptrace/vector_registers.h"

const struct thread_arch_call thread_arch_call = {
	.code = {0x01, 0x00, 0x00, 0xd4}, /* svc #0 */
	.bytes = 4,
	.step_bytes = 4,
};

#define RESTART_CALL 128 /* restart_syscall */

void thread_arch_aim(struct user_regs_struct *registers, uint64_t address,
		     const struct inject_call *call)
{
	registers->pc = address;
	registers->regs[8] = (uint64_t)call->number;
	for (int i = 0; i < 6; i++)
		registers->regs[i] = (uint64_t)call->arguments[i];
}

long thread_arch_result(const struct user_regs_struct *registers)
{
	return (long)registers->regs[0];
}

/*
 * Whether an interrupted call must resume where it was instead of restarting, such as a timed
 * sleep. The kernel would do that if pc had not been changed.
 */
static bool goes_on(const char *sleeps)
{
	char *end;
	long number = strtol(sleeps, &end, 0);
	long arguments[4] = {0};

	if (end == sleeps)
		return false; /* it runs */
	for (int i = 0; i < 4; i++)
		arguments[i] = (long)strtoull(end, &end, 16);
	if (number == SYS_nanosleep)
		return true;
	if (number == SYS_clock_nanosleep)
		return !(arguments[1] & TIMER_ABSTIME);
	return number == SYS_futex && arguments[3] != 0 &&
	       (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
}

void thread_arch_settle(struct user_regs_struct *registers, const char *sleeps)
{
	if (goes_on(sleeps) && (long)registers->regs[8] == strtol(sleeps, NULL, 0))
		registers->regs[8] = RESTART_CALL;
}

uint64_t thread_arch_pointer(pid_t tid)
{
	uint64_t pointer = 0;
	struct iovec room = {&pointer, sizeof(pointer)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_ARM_TLS, &room) < 0 ? 0
										       : pointer;
}

#define PLAIN_WORDS 64u    /* 32 registers of 128 bits */
#define SVE_HEAD_WORDS 2u  /* struct user_sve_header */
#define SVE_FLAGS_SHIFT 32 /* of its second word: vl, max_vl, flags */
#define SVE_IN_USE 1u      /* else only the plain registers are */

size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS])
{
	size_t words = vector_registers_set(tid, NT_ARM_SVE, ret);

	if (words > SVE_HEAD_WORDS && (ret[1] >> SVE_FLAGS_SHIFT & SVE_IN_USE))
		return vector_registers_keep(ret, 0, SVE_HEAD_WORDS, words);
	words = vector_registers_set(tid, NT_PRFPREG, ret);
	return vector_registers_keep(ret, 0, 0, words < PLAIN_WORDS ? words : PLAIN_WORDS);
}
