/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * waits [MS]: threads that are off their CPUs for MS, each for a reason of its own:
 *
 *	sleeper		asleep in sleep_here()
 *	locker		waits in lock_here() for a mutex that main holds
 *	runner a, b	burn MS / 2 each in run_here() on one CPU: one waits for the other
 *	main		waits for a child that was made by vfork() and sleeps: uninterruptible
 *
 * Each says how long it was there and how much of that it ran.
 */

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

struct worker {
	const char *name;
	void (*wait)(uint64_t ns);
	pthread_t thread;
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t wait_ns;

static NOINLINE void sleep_here(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	(void)nanosleep(&time, NULL); /* a shorter sleep does no harm */
}

static NOINLINE void lock_here(uint64_t ns)
{
	(void)ns;
	(void)pthread_mutex_lock(&mutex); /* cannot fail */
	(void)pthread_mutex_unlock(&mutex);
}

static NOINLINE void run_here(uint64_t ns)
{
	(void)burn_cpu(ns / 2);
}

static NOINLINE void vfork_here(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};
	pid_t pid = vfork();

	if (pid == 0) {
		(void)nanosleep(&time, NULL); /* a shorter sleep does no harm */
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0); /* it has ended by now */
}

static void measure(struct worker *worker)
{
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	worker->wait(wait_ns);
	worker->cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	worker->wall_ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
}

static void *run(void *self)
{
	struct worker *worker = self;

	(void)pthread_setname_np(pthread_self(), worker->name); /* short names */
	measure(worker);
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[] = {
		{.name = "sleeper", .wait = sleep_here}, {.name = "locker", .wait = lock_here},
		{.name = "runner_a", .wait = run_here},  {.name = "runner_b", .wait = run_here},
		{.name = "waits", .wait = vfork_here},
	};
	pthread_attr_t attributes;
	cpu_set_t cpus;

	wait_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (pthread_attr_init(&attributes) != 0 || pthread_mutex_lock(&mutex) != 0)
		abort();
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			(void)pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
		if (pthread_create(&workers[i].thread, &attributes, run, &workers[i]) != 0)
			abort();
	}
	measure(&workers[4]);
	(void)pthread_mutex_unlock(&mutex); /* we hold it */
	for (int i = 0; i < 4; i++)
		(void)pthread_join(workers[i].thread, NULL); /* once each */
	printf("{");
	for (int i = 0; i < 5; i++)
		printf("%s\"%s\": {\"wall_ns\": %llu, \"cpu_ns\": %llu}", i > 0 ? ", " : "",
		       workers[i].name, (unsigned long long)workers[i].wall_ns,
		       (unsigned long long)workers[i].cpu_ns);
	printf("}\n");
	return 0;
}
