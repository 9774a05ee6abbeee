/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * wakes [ROUNDS]: who wakes whom is known. Every 5 ms
 *
 *	main in wake_reader()	writes to a pipe that "reader" waits for in read_here()
 *	main in wake_waiter()	posts to a semaphore that "waiter" waits for in wait_here()
 *	a timer			wakes main itself, which sleeps in sleep_here()
 *	main in wake_child()	writes to a pipe that a child process reads in read_here()
 */

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static int to_reader[2];
static int to_child[2];
static sem_t semaphore;
static volatile uint64_t seen;

static NOINLINE void read_here(int fd)
{
	char byte;

	while (read(fd, &byte, 1) == 1 && byte != 'q')
		seen++;
}

static NOINLINE void wait_here(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		while (sem_wait(&semaphore) < 0)
			;
		seen++;
	}
}

static void *run_reader(void *self)
{
	(void)self;
	(void)pthread_setname_np(pthread_self(), "reader"); /* a short name */
	read_here(to_reader[0]);
	return NULL;
}

static void *run_waiter(void *self)
{
	(void)pthread_setname_np(pthread_self(), "waiter"); /* a short name */
	wait_here(*(const uint64_t *)self);
	return NULL;
}

static NOINLINE void wake(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		abort();
	seen++;
}

static NOINLINE void wake_reader(char byte)
{
	wake(to_reader[1], byte);
	seen++;
}

static NOINLINE void wake_child(char byte)
{
	wake(to_child[1], byte);
	seen++;
}

static NOINLINE void wake_waiter(void)
{
	(void)sem_post(&semaphore); /* far from its largest value */
	seen++;
}

static NOINLINE void sleep_here(void)
{
	struct timespec time = {.tv_nsec = 5000000};

	(void)nanosleep(&time, NULL); /* a shorter sleep does no harm */
	seen++;
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_NAME, "child"); /* a short name */
	read_here(to_child[0]);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argument(argc, argv, 1, 100);
	pthread_t reader;
	pthread_t waiter;
	pid_t child;

	if (pipe(to_reader) < 0 || pipe(to_child) < 0 || sem_init(&semaphore, 0, 0) < 0)
		abort();
	child = make_child();
	if (child < 0 || pthread_create(&reader, NULL, run_reader, NULL) != 0 ||
	    pthread_create(&waiter, NULL, run_waiter, &rounds) != 0)
		abort();
	for (uint64_t i = 0; i < rounds; i++) {
		sleep_here();
		wake_reader('w');
		wake_waiter();
		wake_child('w');
	}
	sleep_here();
	wake_reader('q');
	wake_child('q');
	(void)pthread_join(reader, NULL); /* once each */
	(void)pthread_join(waiter, NULL);
	(void)waitpid(child, NULL, 0); /* it ends by itself */
	printf("{\"rounds\": %llu}\n", (unsigned long long)rounds);
	return 0;
}
