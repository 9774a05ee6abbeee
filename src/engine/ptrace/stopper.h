/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_STOPPER_H
#define WICK_ENGINE_PTRACE_STOPPER_H

/*
 * stopper: stops the threads of other processes briefly for inspection.
 *
 * Threads are seized, which does not stop them. A round interrupts a few at a time, reports each
 * one as it stops and resumes it at once, so that stops do not get longer with many threads. All
 * other ptrace events are passed on as if there were no tracer: a signal is delivered once, a
 * process that is stopped (SIGSTOP, Ctrl-Z) stays stopped, SIGCONT continues it. Closing detaches;
 * if we are killed, the kernel does.
 *
 * What a program can notice: system calls that return EINTR even if a thread is only stopped and
 * continued (epoll_wait, semop, sigtimedwait, reading inotify; see signal(7)) do so when a round
 * interrupts them. The kernel restarts all others.
 *
 * While a stopper is open, it owns SIGCHLD: it blocks and reads the signal.
 *
 * Threads: only the thread that opened the stopper may call it, because ptrace is tied to that
 * thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct stop_times;
struct stopper;

/* A stopped thread. */
struct stopped_thread {
	pid_t pid;
	pid_t tid;
	char state;        /* R S D T … before it was asked to stop; 0: unknown */
	uint64_t asked_ns; /* CLOCK_MONOTONIC */
	uint64_t since_ns; /* time of its last stop, or of its start */
};

/* All are called from inside the functions below and must not call these. */
struct stopper_events {
	void (*stopped)(void *self, const struct stopped_thread *thread);
	/*
	 * The rest is optional. asking: the thread will be asked to stop next; needs
	 * STOPPER_STATES.
	 */
	void (*asking)(void *self, pid_t pid, pid_t tid, char state);
	/* parent is the thread that created it. */
	void (*started)(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid);
	void (*execed)(void *self, pid_t pid);
	void (*ended)(void *self, pid_t pid, pid_t tid);
	void *self;
};

/* What else becomes part of the target, and other options. */
#define STOPPER_NEW_THREADS 1u
#define STOPPER_CHILDREN 2u
#define STOPPER_STATES 4u    /* report states: one read of /proc per thread and round */
#define STOPPER_OWN_CHILD 8u /* attached processes are our children: leave their exit status */

/* Keeps events. The caller releases *ret with stopper_close(). */
int stopper_open(unsigned int flags, const struct stopper_events *events, struct stopper **ret,
		 struct error *err);

/* Seizes all threads of a process; on refusal err says what prevents it. */
int stopper_attach_process(struct stopper *stopper, pid_t pid, struct error *err);
/* Seizes one thread of a process. */
int stopper_attach_thread(struct stopper *stopper, pid_t pid, pid_t tid, struct error *err);

/*
 * Reports every thread once. A thread that does not stop in time, because the kernel keeps it, is
 * reported in the round or pump in which it stops.
 */
void stopper_round(struct stopper *stopper);

/* Resumes all threads that wait for us; call when the descriptor is readable. */
void stopper_pump(struct stopper *stopper);
int stopper_fd(const struct stopper *stopper);

size_t stopper_thread_count(const struct stopper *stopper); /* 0: all have ended */
/* Times from asking a thread to stop until it resumed: an upper bound of its stop. */
const struct stop_times *stopper_times(const struct stopper *stopper);

/* Detaches from everything for good; closing does so too. */
void stopper_detach(struct stopper *stopper);

/*
 * Detaches from everything temporarily, and attaches again: signals are not passed on meanwhile.
 * Processes started in between are not traced. Fails if a process can no longer be seized; a
 * process that has ended is no failure.
 */
int stopper_suspend(struct stopper *stopper, struct error *err);
int stopper_resume(struct stopper *stopper, struct error *err);
void stopper_close(struct stopper *stopper); /* NULL is fine */

#endif
