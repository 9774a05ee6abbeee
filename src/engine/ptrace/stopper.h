/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_STOPPER_H
#define WICK_ENGINE_PTRACE_STOPPER_H

/*
 * stopper: holds the threads of other processes for a moment, to be looked at.
 *
 * Threads are seized, which does not stop them. A round interrupts a few at a time,
 * shows each one as it stops and lets it go on at once, so that none is held longer
 * where there are many. Everything else that a
 * tracer gets to see is passed on as if there were none: a signal is delivered
 * once, a process that is stopped (SIGSTOP, Ctrl-Z) stays stopped, SIGCONT
 * continues it. Closing detaches; when we are killed, the kernel does.
 *
 * What a program can notice: system calls that give EINTR even when a thread is
 * only stopped and continued (epoll_wait, semop, sigtimedwait, reading inotify;
 * see signal(7)) do so when a round interrupts them. All others are restarted
 * by the kernel.
 *
 * SIGCHLD belongs to the stopper while one is open: it is blocked and read.
 *
 * Threads: ptrace belongs to the thread that opened the stopper; so do all calls.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct stop_times;
struct stopper;

/* A thread that is being held. */
struct stopped_thread {
	pid_t pid;
	pid_t tid;
	char state;        /* R S D T … before it was asked to stop; 0: not known */
	uint64_t asked_ns; /* CLOCK_MONOTONIC */
	uint64_t since_ns; /* of its last stop, or of the beginning */
};

/* All are called from inside the functions below; none may call them. */
struct stopper_events {
	void (*stopped)(void *self, const struct stopped_thread *thread);
	/* The rest is optional. A thread is asked to stop next; needs STOPPER_STATES. */
	void (*asking)(void *self, pid_t pid, pid_t tid, char state);
	/* parent is the thread that made it. */
	void (*started)(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid);
	void (*execed)(void *self, pid_t pid);
	void (*ended)(void *self, pid_t pid, pid_t tid);
	void *self;
};

/* What else becomes part of the target. */
#define STOPPER_NEW_THREADS 1u
#define STOPPER_CHILDREN 2u
#define STOPPER_STATES 4u    /* tell states: a read of /proc for each thread and round */
#define STOPPER_OWN_CHILD 8u /* attached processes are ours: their exit status is left alone */

/* Keeps events. The caller releases *ret with stopper_close(). */
int stopper_open(unsigned int flags, const struct stopper_events *events, struct stopper **ret,
		 struct error *err);

/* Seizes all threads of a process; says who is in the way when that is refused. */
int stopper_attach_process(struct stopper *stopper, pid_t pid, struct error *err);
/* Seizes one thread of a process. */
int stopper_attach_thread(struct stopper *stopper, pid_t pid, pid_t tid, struct error *err);

/*
 * Shows every thread once. One that does not stop in time, because the kernel
 * does not let it, is shown in the round or pump that it stops in.
 */
void stopper_round(struct stopper *stopper);

/* Lets all threads go on that wait for us; to be called when the descriptor is readable. */
void stopper_pump(struct stopper *stopper);
int stopper_fd(const struct stopper *stopper);

size_t stopper_thread_count(const struct stopper *stopper); /* 0: all have ended */
/* From asking a thread to stop until it went on: more than it was held for. */
const struct stop_times *stopper_times(const struct stopper *stopper);

/* Lets everything go for good; closing does so if nobody has. */
void stopper_detach(struct stopper *stopper);

/*
 * Lets everything go for a while, and takes hold of it again: nobody passes signals
 * on meanwhile. Processes that were started in between are not followed. Fails when
 * a process may not be seized any more; one that has ended has simply done so.
 */
int stopper_suspend(struct stopper *stopper, struct error *err);
int stopper_resume(struct stopper *stopper, struct error *err);
void stopper_close(struct stopper *stopper); /* NULL is fine */

#endif
