/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * tells [MS]: pauses and stops the recording of itself: of 4 x MS of CPU time in seen()
 * all is to be seen, of as much in unseen() nothing. Tells of a gauge on its way. Then
 * two threads stop and start it at once, and MS in settled() are to be seen; of a child
 * that it forks MS in forked(), with the labels that were set before.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
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

static NOINLINE void settled(uint64_t cpu_ns)
{
	(void)burn_cpu(cpu_ns);
}

static NOINLINE void forked(uint64_t cpu_ns)
{
	(void)burn_cpu(cpu_ns);
}

static void *stop_and_start(void *argument)
{
	(void)argument;
	for (int i = 0; i < 500; i++) {
		wick_stop();
		wick_start();
	}
	return NULL;
}

/* However the two meet, what was said last is what counts. */
static void quarrel(uint64_t cpu_ns)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stop_and_start, NULL) != 0)
		return;
	(void)stop_and_start(NULL);
	(void)pthread_join(thread, NULL);
	settled(cpu_ns);
}

/* A child is in the part that its parent was in, and ends it itself. */
static int fork_labelled(uint64_t cpu_ns)
{
	int status = 1;
	pid_t pid;

	wick_label("tenant", "large");
	wick_label("shard", "");
	wick_profile_begin("split");
	pid = fork();
	if (pid == 0) {
		forked(cpu_ns);
		wick_profile_end();
		wick_count("parted", 1);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	wick_profile_end();
	return status;
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
	quarrel(cpu_ns);
	if (fork_labelled(cpu_ns) != 0)
		return 1;
	printf("{\"seen_ns\": %llu, \"part_ns\": %llu}\n", (unsigned long long)(4 * cpu_ns),
	       (unsigned long long)cpu_ns);
	return 0;
}
