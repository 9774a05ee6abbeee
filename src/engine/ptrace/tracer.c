/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/tracer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define STEP_NS 50000

struct tracer {
	pthread_t thread;
	pid_t tid;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*job)(void *self); /* NULL: none */
	void *self;
	bool ends;
};

static void *run(void *self)
{
	struct tracer *tracer = self;

	(void)pthread_mutex_lock(&tracer->lock);
	tracer->tid = (pid_t)syscall(SYS_gettid);
	for (;;) {
		while (!tracer->job && !tracer->ends)
			(void)pthread_cond_wait(&tracer->changed, &tracer->lock);
		if (!tracer->job)
			break;
		tracer->job(tracer->self); /* the caller waits, so nobody needs the lock */
		tracer->job = NULL;
		(void)pthread_cond_broadcast(&tracer->changed);
	}
	(void)pthread_mutex_unlock(&tracer->lock);
	return NULL;
}

/* Signals go to the thread that started it. */
static int start(struct tracer *tracer)
{
	sigset_t all;
	sigset_t before;
	int code;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&tracer->thread, NULL, run, tracer);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -code;
}

int tracer_begin(struct tracer **ret, struct error *err)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int r;

	if (!tracer)
		return error_set(err, -ENOMEM, "out of memory");
	(void)pthread_mutex_init(&tracer->lock, NULL);
	(void)pthread_cond_init(&tracer->changed, NULL);
	r = start(tracer);
	if (r < 0) {
		free(tracer);
		return error_errno(err, r, "the recorder cannot start its tracing thread");
	}
	*ret = tracer;
	return 0;
}

void tracer_do(struct tracer *tracer, void (*job)(void *self), void *self)
{
	(void)pthread_mutex_lock(&tracer->lock);
	tracer->self = self;
	tracer->job = job;
	(void)pthread_cond_broadcast(&tracer->changed);
	while (tracer->job)
		(void)pthread_cond_wait(&tracer->changed, &tracer->lock);
	(void)pthread_mutex_unlock(&tracer->lock);
}

void tracer_end(struct tracer *tracer)
{
	if (!tracer)
		return;
	(void)pthread_mutex_lock(&tracer->lock);
	tracer->ends = true;
	(void)pthread_cond_broadcast(&tracer->changed);
	(void)pthread_mutex_unlock(&tracer->lock);
	(void)pthread_join(tracer->thread, NULL);
	/* Joining returns slightly before the thread is gone and its tracees are released. */
	while (syscall(SYS_tgkill, getpid(), tracer->tid, 0) == 0)
		(void)nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
	(void)pthread_cond_destroy(&tracer->changed);
	(void)pthread_mutex_destroy(&tracer->lock);
	free(tracer);
}
