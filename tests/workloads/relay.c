/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * relay [MS [BURN_NS]]: two threads on one CPU that pass a byte to and fro for MS: each waits
 * for the other some ten thousand times a second, like a busy server and its client.
 *
 *	caller	burns BURN_NS before every second byte; each 512th time it sleeps for 2 ms
 *	echo	waits in wait_short() and wait_long() in turn: the same place of the same
 *		function, with the same stack pointer, but other callers
 *
 * Each says how long it was there, how much of that it ran, and how often it left its CPU;
 * echo also how long it was in either of its functions.
 */

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burn.h"

#define SLEEP_EVERY 512u

struct worker {
	const char *name;
	pthread_t thread;
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t switches;
};

static int to_echo[2];
static int to_caller[2];
static uint64_t until_ns;
static uint64_t burn_ns;
static uint64_t short_ns;
static uint64_t long_ns;

static NOINLINE int take(int fd)
{
	char byte;
	int got = read(fd, &byte, 1) == 1;

	__asm__ volatile("" : "+r"(got)); /* it returns here: no tail call */
	return got;
}

static NOINLINE int wait_short(void)
{
	int got = take(to_echo[0]);

	__asm__ volatile("" : "+r"(got));
	return got;
}

static NOINLINE int wait_long(void)
{
	int got = take(to_echo[0]);

	__asm__ volatile("# other code than above" : "+r"(got));
	return got;
}

static void call(void)
{
	struct timespec pause = {.tv_nsec = 2 * (long)NS_PER_MS};

	for (unsigned int i = 0; clock_now_ns(CLOCK_MONOTONIC) < until_ns; i++) {
		uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);

		while (i % 2 && clock_now_ns(CLOCK_MONOTONIC) - begin_ns < burn_ns)
			;
		if (i % SLEEP_EVERY == SLEEP_EVERY - 1)
			(void)nanosleep(&pause, NULL); /* a shorter one does no harm */
		if (write(to_echo[1], "x", 1) != 1 || !take(to_caller[0]))
			abort();
	}
	(void)close(to_echo[1]); /* the end of it */
}

static void echo(void)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i % 2 ? wait_long() : wait_short(); i++) {
		*(i % 2 ? &long_ns : &short_ns) += clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
		if (write(to_caller[1], "x", 1) != 1)
			abort();
		begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	}
}

static void measure(struct worker *worker, void (*run)(void))
{
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct rusage usage;

	run();
	worker->cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	worker->wall_ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		abort();
	worker->switches = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static void *run_echo(void *self)
{
	struct worker *worker = self;

	(void)pthread_setname_np(pthread_self(), worker->name); /* short names */
	measure(worker, echo);
	return NULL;
}

static void print(const struct worker *worker)
{
	printf("\"%s\": {\"wall_ns\": %llu, \"cpu_ns\": %llu, \"switches\": %llu}, ", worker->name,
	       (unsigned long long)worker->wall_ns, (unsigned long long)worker->cpu_ns,
	       (unsigned long long)worker->switches);
}

int main(int argc, char **argv)
{
	struct worker caller = {.name = "relay"};
	struct worker answerer = {.name = "echo"};
	cpu_set_t cpus;

	burn_ns = argument(argc, argv, 2, 20000);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus); /* with more CPUs they switch less */
	if (pipe(to_echo) != 0 || pipe(to_caller) != 0)
		abort();
	until_ns = clock_now_ns(CLOCK_MONOTONIC) + argument(argc, argv, 1, 1000) * NS_PER_MS;
	if (pthread_create(&answerer.thread, NULL, run_echo, &answerer) != 0)
		abort();
	measure(&caller, call);
	(void)pthread_join(answerer.thread, NULL); /* once */
	printf("{");
	print(&caller);
	print(&answerer);
	printf("\"short_ns\": %llu, \"long_ns\": %llu}\n", (unsigned long long)short_ns,
	       (unsigned long long)long_ns);
	return 0;
}
