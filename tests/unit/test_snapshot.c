/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define THREADS 4
/*
 * Longer than a thread that waits for nothing is given to stop; two of it are less than the kernel
 * allows in a second.
 */
#define FIRST_NS (400 * NS_PER_MS)

static void *wait_for_ever(void *argument)
{
	for (;;)
		(void)pause();
	return argument;
}

/* A process with some threads, which are there when this returns. */
static pid_t start(void)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t thread;

		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
				_exit(1);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)wait_for_ever(NULL);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void one_that_is_killed_while_it_is_held_ends(void **state)
{
	struct snapshot snapshot;
	pid_t pid = start();
	int status = 0;
	int r = snapshot_stop(&snapshot, pid, NS_PER_SEC, NULL);

	(void)state;
	(void)kill(pid, SIGKILL);
	if (r == 0)
		assert_int_equal(snapshot.threads.count, THREADS + 1);
	snapshot_fini(&snapshot);
	/* Nobody keeps its threads: else this would wait for ever. Its status is left to us. */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (r == -EPERM)
		skip(); /* nobody may trace here */
	assert_int_equal(r, 0);
}

/* Which works where nobody holds it. */
static void terminate(pid_t pid)
{
	int status = 0;

	(void)kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void one_that_was_held_goes_on(void **state)
{
	struct snapshot snapshot;
	pid_t pid = start();
	int r = snapshot_stop(&snapshot, pid, NS_PER_SEC, NULL);

	(void)state;
	for (size_t i = 0; i < snapshot.threads.count && r == 0; i++)
		assert_true(snapshot.threads.items[i].is_known);
	snapshot_fini(&snapshot);
	terminate(pid);
	if (r == -EPERM)
		skip();
	assert_int_equal(r, 0);
}

/* The two CPUs that this may use: that of the others, and ours. Returns whether there are two. */
static bool choose_cpus(int *ret_theirs, int *ret_ours)
{
	cpu_set_t set;
	int found[2];
	int count = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			found[count++] = cpu;
	if (count < 2)
		return false;
	*ret_theirs = found[0];
	*ret_ours = found[1];
	return true;
}

static void stay_on(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/* Runs on a CPU, before all others where that is wanted. Returns 0 when that is not allowed. */
static pid_t start_spinning(int cpu, uint64_t for_ns, bool is_first)
{
	struct sched_param priority = {.sched_priority = 1};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		uint64_t until_ns = clock_monotonic_ns() + for_ns;

		while (clock_monotonic_ns() < until_ns)
			;
		_exit(0);
	}
	stay_on(pid, cpu);
	if (!is_first || sched_setscheduler(pid, SCHED_FIFO, &priority) == 0)
		return pid;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return 0;
}

/* Stops a process while another one has its CPU. *ret_still: it had when this was done. */
static int stop_starved(uint64_t patience_ns, bool *ret_still)
{
	struct snapshot snapshot;
	siginfo_t info = {0};
	cpu_set_t before;
	int theirs;
	int ours;
	pid_t pid;
	pid_t first;
	int r = -EPERM;

	if (!choose_cpus(&theirs, &ours))
		return -EPERM;
	(void)sched_getaffinity(0, sizeof(before), &before);
	stay_on(0, ours);
	pid = start_spinning(theirs, 60 * NS_PER_SEC, false);
	first = start_spinning(theirs, FIRST_NS, true);
	if (first > 0) {
		r = snapshot_stop(&snapshot, pid, patience_ns, NULL);
		(void)waitid(P_PID, (id_t)first, &info, WEXITED | WNOHANG | WNOWAIT);
		*ret_still = info.si_pid == 0;
		if (r == 0)
			assert_true(snapshot.threads.items[0].is_known);
		snapshot_fini(&snapshot);
		assert_int_equal(waitpid(first, NULL, 0), first);
	}
	terminate(pid);
	(void)sched_setaffinity(0, sizeof(before), &before);
	return r;
}

static void one_that_gets_no_cpu_is_waited_for(void **state)
{
	bool still = false;
	int r = stop_starved(10 * NS_PER_SEC, &still);

	(void)state;
	if (r == -EPERM)
		skip();
	assert_int_equal(r, 0);
}

static void one_that_gets_no_cpu_for_too_long_is_let_go(void **state)
{
	bool still = false;
	int r = stop_starved(0, &still);

	(void)state;
	if (r == -EPERM)
		skip();
	if (still)
		assert_int_equal(r, -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_killed_while_it_is_held_ends),
		cmocka_unit_test(one_that_was_held_goes_on),
		cmocka_unit_test(one_that_gets_no_cpu_is_waited_for),
		cmocka_unit_test(one_that_gets_no_cpu_for_too_long_is_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
