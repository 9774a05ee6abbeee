/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/job_control.h"

#include <unistd.h>

#include "base/vec.h"

static const int numbers[] = {SIGTSTP, SIGTTIN, SIGTTOU};

void job_control_add(sigset_t *mask)
{
	struct sigaction action;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(mask, numbers[i]);
}

bool job_control_is(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Nothing of this can fail with a valid signal. */
void job_control_stop(int number)
{
	sigset_t mask;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, number);
	(void)kill(getpid(), number);
	(void)sigprocmask(SIG_UNBLOCK, &mask, NULL); /* it is suspended here */
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
}
