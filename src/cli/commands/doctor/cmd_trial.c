/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "cli/command.h"

#define LIMIT_S 10 /* ends the program then, even if its parent is gone */
#define BLOCK_BYTES 100
#define TURNS 200000
#define NAP_NS 100000 /* often enough to see the waker, and little compared to the work */

static void nap(void)
{
	struct timespec time = {.tv_nsec = NAP_NS};

	(void)nanosleep(&time, NULL); /* a shorter sleep is fine */
}

/* Works for about half a millisecond, and allocates and frees one block. */
static __attribute__((noinline)) unsigned int work(void)
{
	unsigned int *volatile block = malloc(BLOCK_BYTES);
	volatile unsigned int sum = 0;

	for (unsigned int i = 0; i < TURNS; i++)
		sum += i;
	if (block)
		*block = sum;
	free(block);
	return sum;
}

static int run_trial(const struct command_context *context, void *options, int argc, char **argv)
{
	uint64_t cpu_ns = 0;

	(void)options;
	if (number_parse_duration(argv[0], &cpu_ns) < 0)
		return command_misused(context, "%s is not a time", argv[0]);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if it fails, there is still the alarm */
	(void)alarm(LIMIT_S);
	if (write(STDOUT_FILENO, "\n", 1) != 1)
		return COMMAND_FAILED; /* its parent has gone */
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns) {
		(void)work();
		if (argc > 1)
			nap();
	}
	return COMMAND_DONE;
}

const struct command command_trial = {
	.name = "trial",
	.summary = "the program that wick doctor tries the engines on",
	.synopsis = "TIME [NAPS]",
	.description =
		(const char *const[]){"Computes, and allocates now and then, until it has used "
				      "TIME of CPU time. With NAPS it also sleeps now and then.",
				      NULL},
	.min_arguments = 1,
	.max_arguments = 2,
	.hidden = true,
	.run = run_trial,
};
