/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * locks: threads that wait for locks, so and so often and so and so long.
 *
 *	locks ROUNDS HOLD_US
 *
 * In each round one thread holds a lock while another waits for it: the global `first` for
 * 4 x HOLD_US, the global `second` for 2 x HOLD_US, then one in memory that was allocated, for
 * HOLD_US. All are taken in one function, so that nothing but the lock tells them apart. At the
 * end it says how long the waiter has waited for each, with the time until it
 * had a CPU again, and how long the lock was held while it slept: the sleep is between the two.
 * The same of the longest.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define LOCKS 3

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second; /* zero at the start: behind what is in the file */

static pthread_mutex_t *locks[LOCKS];
static const char *const names[LOCKS] = {"first", "second", "heap"};
static atomic_int begun = -1; /* the lock that the waiter takes next, or has begun to take */
static atomic_int wanted = -1;
static atomic_int waiter_id;

struct sum {
	uint64_t ns;
	uint64_t longest_ns;
};

static struct sum waited[LOCKS];
static struct sum held[LOCKS]; /* while the other slept */

static void add(struct sum *sum, uint64_t ns)
{
	sum->ns += ns;
	if (ns > sum->longest_ns)
		sum->longest_ns = ns;
}

static void pause_us(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&time, &time) != 0)
		;
}

static NOINLINE void take_here(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void give_here(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
	__asm__ volatile("" ::: "memory");
}

static void *wait_for_locks(void *unused)
{
	(void)unused;
	atomic_store(&waiter_id, (int)syscall(SYS_gettid));
	for (;;) {
		int lock = atomic_load(&wanted);
		uint64_t start_ns;

		if (lock == atomic_load(&begun)) {
			sched_yield();
			continue;
		}
		if (lock >= LOCKS)
			return NULL;
		start_ns = clock_now_ns(CLOCK_MONOTONIC);
		atomic_store(&begun, lock);
		take_here(locks[lock]);
		add(&waited[lock], clock_now_ns(CLOCK_MONOTONIC) - start_ns);
		pthread_mutex_unlock(locks[lock]);
	}
}

/*
 * How often the waiter has gone to sleep, which it does nowhere but in a lock. Its state does not
 * tell: one that loses its CPU on the way to sleep has that of a sleeper.
 */
static uint64_t count_sleeps(int status)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char text[4096] = "";
	const char *count;

	if (pread(status, text, sizeof(text) - 1, 0) <= 0)
		abort();
	count = strstr(text, key);
	if (!count)
		abort();
	return strtoull(count + sizeof(key) - 1, NULL, 10);
}

static void hold(int lock, long us, int status)
{
	uint64_t sleeps = count_sleeps(status);
	uint64_t start_ns;

	pthread_mutex_lock(locks[lock]);
	atomic_store(&wanted, lock);
	while (atomic_load(&begun) != lock || count_sleeps(status) == sleeps)
		sched_yield();
	start_ns = clock_now_ns(CLOCK_MONOTONIC);
	pause_us(us);
	add(&held[lock], clock_now_ns(CLOCK_MONOTONIC) - start_ns);
	give_here(locks[lock]);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argument(argc, argv, 1, 20);
	long us = (long)argument(argc, argv, 2, 2000);
	pthread_t waiter;
	char path[64];
	int status;

	locks[0] = &first;
	locks[1] = &second;
	locks[2] = calloc(1, sizeof(**locks));
	if (!locks[2] || pthread_create(&waiter, NULL, wait_for_locks, NULL) != 0)
		return 1;
	while (atomic_load(&waiter_id) == 0)
		sched_yield();
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", atomic_load(&waiter_id));
	status = open(path, O_RDONLY | O_CLOEXEC);
	if (status < 0)
		return 1;
	for (uint64_t i = 0; i < rounds; i++) {
		hold(0, us * 4, status);
		hold(1, us * 2, status);
		hold(2, us, status);
	}
	atomic_store(&wanted, LOCKS);
	pthread_join(waiter, NULL);
	for (int i = 0; i < LOCKS; i++)
		printf("%s\"%s\": {\"waited_ns\": %llu, \"held_ns\": %llu, "
		       "\"longest_waited_ns\": %llu, \"longest_held_ns\": %llu}",
		       i == 0 ? "{" : ", ", names[i], (unsigned long long)waited[i].ns,
		       (unsigned long long)held[i].ns, (unsigned long long)waited[i].longest_ns,
		       (unsigned long long)held[i].longest_ns);
	printf("}\n");
	free(locks[2]);
	close(status);
	return 0;
}
