/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * touches [MS]: a page fault every 100 us of MS in touch_here(), a context switch as often in
 * yield_here(), neither in burn_here(), for as long each; once in the first process and once
 * in a child of it.
 */

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define STEP_NS UINT64_C(100000)
#define PAGE 65536u /* as large as pages get */

static NOINLINE void touch_here(uint64_t steps)
{
	char *memory = mmap(NULL, steps * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED)
		abort();
	/* Pages that are larger than they need be would come with fewer faults. */
	(void)madvise(memory, steps * PAGE, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < steps; i++) {
		memory[i * PAGE] = 1;
		(void)burn_cpu(STEP_NS);
	}
}

static NOINLINE void burn_here(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		(void)burn_cpu(STEP_NS);
}

static NOINLINE void yield_here(uint64_t steps)
{
	struct timespec moment = {.tv_nsec = 1};

	for (uint64_t i = 0; i < steps; i++) {
		(void)nanosleep(&moment, NULL); /* a shorter one does no harm */
		(void)burn_cpu(STEP_NS);
	}
}

static void run(uint64_t steps)
{
	burn_here(steps);
	touch_here(steps);
	yield_here(steps);
}

/* Times that others took the CPU away, wherever that was. */
static long preempted(int who)
{
	struct rusage usage = {.ru_nivcsw = 0};

	(void)getrusage(who, &usage);
	return usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	uint64_t steps = argument(argc, argv, 1, 100) * NS_PER_MS / STEP_NS;
	pid_t child;

	run(steps);
	child = fork();
	if (child == 0) {
		run(steps);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0); /* it ends by itself */
	printf("{\"steps\": %llu, \"preempted\": %ld}\n", (unsigned long long)steps,
	       preempted(RUSAGE_SELF) + preempted(RUSAGE_CHILDREN));
	return 0;
}
