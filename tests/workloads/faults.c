/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * faults [MS]: reads memory that is not there, in the middle of a function, and
 * burns MS in the handler of the signal; then does so in the first instruction of
 * another function, which another one lies right before.
 */

#include <setjmp.h>
#include <signal.h>

#include "burn.h"

int fault_first(const volatile int *place);

/* clang-format off */
__asm__(".text\n"
	".p2align 4\n"
	".type lies_before, %function\n"
	"lies_before:\n"
	"\t.cfi_startproc\n"
	"\tnop\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	".size lies_before, . - lies_before\n"
	".globl fault_first\n"
	".type fault_first, %function\n"
	"fault_first:\n"
	"\t.cfi_startproc\n"
#if defined(__aarch64__)
	"\tldr w0, [x0]\n"
#else
	"\tmovl (%rdi), %eax\n"
#endif
	"\tret\n"
	"\t.cfi_endproc\n"
	".size fault_first, . - fault_first\n");
/* clang-format on */

static sigjmp_buf back;
static uint64_t burn_ns;

static NOINLINE int fault_middle(const volatile int *place, int n)
{
	int sum = 0;

	while (n-- > 0)
		sum += n * n;
	return *place + sum;
}

static NOINLINE int call_middle(const volatile int *place)
{
	return fault_middle(place, 7) + 1;
}

static NOINLINE int call_first(const volatile int *place)
{
	return fault_first(place) + 1;
}

static NOINLINE void on_fault(int number)
{
	(void)number;
	(void)burn_cpu(burn_ns);
	siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
	const volatile int *nothing = (const volatile int *)8;
	struct sigaction action = {.sa_handler = on_fault};

	burn_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	if (sigaction(SIGSEGV, &action, NULL) != 0)
		abort();
	if (sigsetjmp(back, 1) == 0)
		(void)call_middle(nothing);
	if (sigsetjmp(back, 1) == 0)
		(void)call_first(nothing);
	printf("{}\n");
	return 0;
}
