/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * altstack [MS]: a signal interrupts interrupted_here(); its handler burns MS on a
 * stack of its own.
 */

#include <signal.h>

#include "burn.h"

static uint64_t burn_ns;
static volatile sig_atomic_t handled;

static NOINLINE void handle_here(int number)
{
	(void)number;
	(void)burn_cpu(burn_ns);
	handled = 1;
}

static NOINLINE void interrupted_here(void)
{
	if (raise(SIGUSR1) != 0 || !handled)
		abort();
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle_here, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_size = 65536, .ss_sp = malloc(65536)};

	burn_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0 ||
	    sigaction(SIGUSR1, &action, NULL) != 0)
		abort();
	interrupted_here();
	printf("{\"cpu_ns\": %llu}\n", (unsigned long long)burn_ns);
	return 0;
}
