/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/signal_cost.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/interruption_cost.h"

static void do_nothing(int number)
{
	(void)number;
}

/* Measures the gaps caused by a timer of this thread with an empty handler. */
static size_t measure(int number, uint64_t *holes_ns)
{
	const struct itimerspec times = {.it_interval = {.tv_nsec = HOLES_PERIOD_NS},
					 .it_value = {.tv_nsec = HOLES_PERIOD_NS}};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
	size_t count = 0;
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return 0;
	if (timer_settime(timer, 0, &times, NULL) == 0)
		count = interruption_cost_measure(holes_ns);
	(void)timer_delete(timer);
	return count;
}

uint64_t signal_delivery_ns(void)
{
	const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	int number = SIGRTMAX - 1; /* not used by anything else here */
	uint64_t holes_ns[HOLES_WANTED];
	struct sigaction old;
	sigset_t mask;
	sigset_t set;
	size_t count;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	if (sigaction(number, &action, &old) < 0)
		return 0;
	(void)sigprocmask(SIG_UNBLOCK, &set, &mask);
	count = measure(number, holes_ns);
	/* The last signal may be pending: let it arrive while there is a handler. */
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)sigaction(number, &old, NULL);
	return interruption_cost_median_ns(holes_ns, count);
}
