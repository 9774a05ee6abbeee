/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * locks: a bank that is slow although its CPUs have nothing to do. Three tellers pay in money;
 * each payment holds the lock of the accounts for an instant. An auditor takes the same lock and
 * keeps it while a report is written to a slow disk, 20 ms at a time.
 * At the end the program prints how long the tellers waited, by its own clock.
 *
 *	cc -g locks.c -o locks
 *	sudo wick record --mode offcpu --waker -o locks.wick -- ./locks
 *	wick report --only pay_in --tree --no-kernel locks.wick
 *
 * shows that time below pay_in(), in pthread_mutex_lock(), and who woke the tellers: audit() wakes
 * one, which wakes the next. Without root, "--mode wall" shows the waits, but not who woke whom.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TELLERS 3
#define AUDITS 20
#define REPORT_NS 20000000
#define PAUSE_NS 1000000

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static uint64_t balance; /* guarded by accounts */
static atomic_uint_fast64_t waited_ns;
static atomic_bool closed;

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); /* no signal ends it early */
}

__attribute__((noinline)) static void pay_in(uint64_t amount)
{
	uint64_t begin_ns = now_ns();

	pthread_mutex_lock(&accounts);
	atomic_fetch_add(&waited_ns, now_ns() - begin_ns);
	balance += amount;
	pthread_mutex_unlock(&accounts);
}

static void *teller(void *unused)
{
	(void)unused;
	(void)pthread_setname_np(pthread_self(), "teller"); /* only a label */
	while (!atomic_load(&closed)) {
		pay_in(1);
		pause_ns(PAUSE_NS);
	}
	return NULL;
}

/* The mistake: only reading the balance needs the lock. */
__attribute__((noinline)) static void audit(void)
{
	pthread_mutex_lock(&accounts);
	printf("balance %ju\n", (uintmax_t)balance);
	pause_ns(REPORT_NS); /* the disk */
	pthread_mutex_unlock(&accounts);
}

int main(void)
{
	pthread_t threads[TELLERS];
	int started = 0;

	while (started < TELLERS && pthread_create(&threads[started], NULL, teller, NULL) == 0)
		started++;
	for (int i = 0; i < AUDITS; i++) {
		audit();
		pause_ns(5 * PAUSE_NS);
	}
	atomic_store(&closed, true);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	printf("%d tellers waited %.3f s for the lock\n", started,
	       (double)atomic_load(&waited_ns) / 1e9);
	return started < TELLERS;
}
