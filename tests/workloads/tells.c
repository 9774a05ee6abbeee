/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * tells [MS]: pauses and stops the recording of itself: of 4 x MS of CPU time in seen()
 * all is to be seen, of as much in unseen() nothing. Tells of a gauge on its way.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <wick/wick.h>

#include "burn.h"

static _Atomic int started;

static NOINLINE void seen(uint64_t cpu_ns)
{
	(void)burn_cpu(cpu_ns);
}

static NOINLINE void unseen(uint64_t cpu_ns)
{
	(void)burn_cpu(cpu_ns);
}

/* A thread that is born while nobody is to look. */
static void *wait_and_burn(void *argument)
{
	while (!started)
		usleep(1000);
	seen(*(uint64_t *)argument);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argument(argc, argv, 1, 100) * NS_PER_MS;
	pthread_t thread;

	wick_gauge("depth", 20);
	seen(cpu_ns);
	wick_pause();
	wick_count("paused", 1);
	unseen(2 * cpu_ns);
	wick_resume();
	seen(cpu_ns);
	wick_stop();
	wick_count("stopped", 1);
	wick_gauge("depth", 1000);
	if (pthread_create(&thread, NULL, wait_and_burn, &cpu_ns) != 0)
		return 1;
	unseen(2 * cpu_ns);
	wick_start();
	started = 1;
	wick_gauge("depth", -5);
	seen(cpu_ns);
	(void)pthread_join(thread, NULL);
	wick_gauge("depth", 3);
	printf("{\"seen_ns\": %llu}\n", (unsigned long long)(4 * cpu_ns));
	return 0;
}
