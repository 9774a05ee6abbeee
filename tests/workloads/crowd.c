/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * crowd THREADS [storm|vfork|leave|exec]: that many threads besides the main one
 * that sleep until the program is killed. With
 *	storm   each sends itself signals instead, one after the other;
 *	vfork   the main thread waits for a child, in a state that nothing but its
 *	        end can interrupt;
 *	leave   the main thread ends and the others go on;
 *	exec    one of the others executes sleep after half a second.
 */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

static void on_signal(int number)
{
	(void)number;
}

static void *sleep_on(void *arg)
{
	for (;;)
		(void)pause(); /* returns after a signal */
	return arg;
}

static void *storm(void *arg)
{
	for (;;)
		(void)raise(SIGUSR1); /* cannot fail */
	return arg;
}

static void *execute(void *arg)
{
	(void)usleep(500000);
	execlp("sleep", "sleep", "20", (char *)NULL);
	return arg;
}

static NOINLINE void wait_for_child(void)
{
	if (vfork() == 0) {
		(void)sleep(30);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	uint64_t count = argument(argc, argv, 1, 4);
	const char *mode = argc > 2 ? argv[2] : "";
	void *(*body)(void *) = strcmp(mode, "storm") == 0 ? storm : sleep_on;
	struct sigaction action = {.sa_handler = on_signal};
	pthread_attr_t attributes;
	pthread_t thread;

	if (sigaction(SIGUSR1, &action, NULL) != 0 || pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstacksize(&attributes, 256u << 10) != 0)
		abort();
	for (uint64_t i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, body, NULL) != 0)
			abort();
	if (strcmp(mode, "exec") == 0 && pthread_create(&thread, &attributes, execute, NULL) != 0)
		abort();
	printf("ready\n");
	(void)fflush(stdout); /* the test waits for this line */
	if (strcmp(mode, "vfork") == 0)
		wait_for_child();
	if (strcmp(mode, "leave") == 0)
		pthread_exit(NULL);
	(void)body(NULL);
	return 0;
}
