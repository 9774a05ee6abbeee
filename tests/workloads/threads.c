/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * threads [MS] [LATE_MS]: threads w0..w3 burn 10, 20, 30 and 40 % of MS of CPU
 * time. They start after LATE_MS, so that an attached profiler sees them appear.
 */

#include <pthread.h>

#include "burn.h"

#define THREADS 4

struct worker {
	pthread_t thread;
	char name[16];
	uint64_t budget_ns;
	uint64_t burnt_ns;
};

static NOINLINE uint64_t worker_burn(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	/* Before the first burn, so that no sample has the old name. */
	(void)pthread_setname_np(pthread_self(), worker->name);
	worker->burnt_ns = worker_burn(worker->budget_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t total_ns = argument(argc, argv, 1, 2000) * NS_PER_MS;
	uint64_t late_ns = argument(argc, argv, 2, 0) * NS_PER_MS;
	struct timespec late = {.tv_sec = (time_t)(late_ns / 1000000000),
				.tv_nsec = (long)(late_ns % 1000000000)};
	struct worker workers[THREADS] = {0};
	uint64_t sum_ns = 0;

	(void)nanosleep(&late, NULL); /* a shorter wait does no harm */
	for (int i = 0; i < THREADS; i++) {
		workers[i].budget_ns = total_ns * (uint64_t)(i + 1) / 10;
		/* A digit always fits. */
		(void)snprintf(workers[i].name, sizeof(workers[i].name), "w%d", i);
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		sum_ns += workers[i].burnt_ns;
	}
	printf("{\"cpu_ns\": %llu, \"threads\": {", (unsigned long long)sum_ns);
	for (int i = 0; i < THREADS; i++)
		printf("%s\"w%d\": %llu", i ? ", " : "", i,
		       (unsigned long long)workers[i].burnt_ns);
	printf("}}\n");
	return 0;
}
