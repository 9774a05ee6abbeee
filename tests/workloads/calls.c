/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * calls [MS]: sleeps in one system call after the other for MS and says how many
 * failed with EINTR, and how many signals SIGRTMIN came. Those of epoll_wait() are
 * counted apart: it gives EINTR whenever a thread is stopped and continued.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "burn.h"

#define PAUSE_MS 3

static volatile sig_atomic_t signals;
static volatile bool done;
static int pipe_fds[2];

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/* Keeps the reader of the pipe busy. */
static void *feed(void *arg)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};

	while (!done) {
		(void)nanosleep(&pause, NULL); /* a shorter wait does no harm */
		if (write(pipe_fds[1], "x", 1) != 1)
			abort();
	}
	return arg;
}

static NOINLINE int call_all(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
	struct timeval limit = {.tv_usec = PAUSE_MS * 1000};
	char byte;
	int failed = 0;

	failed += nanosleep(&pause, NULL) < 0;
	failed += poll(NULL, 0, PAUSE_MS) < 0;
	failed += select(0, NULL, NULL, NULL, &limit) < 0;
	failed += read(pipe_fds[0], &byte, 1) < 0;
	return failed;
}

int main(int argc, char **argv)
{
	uint64_t until_ns =
		clock_now_ns(CLOCK_MONOTONIC) + argument(argc, argv, 1, 1000) * NS_PER_MS;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct epoll_event event;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int failed = 0;
	int epoll_failed = 0;
	pthread_t feeder;
	sigset_t mask;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGRTMIN);
	if (sigaction(SIGRTMIN, &action, NULL) != 0 || pipe(pipe_fds) != 0 || epoll_fd < 0)
		abort();
	/* Signals come to the main thread. */
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	if (pthread_create(&feeder, NULL, feed, NULL) != 0)
		abort();
	(void)sigprocmask(SIG_UNBLOCK, &mask, NULL);
	printf("ready\n");
	(void)fflush(stdout); /* the test waits for this line */
	while (clock_now_ns(CLOCK_MONOTONIC) < until_ns) {
		failed += call_all();
		epoll_failed += epoll_wait(epoll_fd, &event, 1, PAUSE_MS) < 0 && errno == EINTR;
	}
	done = true;
	(void)pthread_join(feeder, NULL);
	printf("{\"eintr\": %d, \"epoll_eintr\": %d, \"signals\": %d}\n", failed, epoll_failed,
	       (int)signals);
	return 0;
}
