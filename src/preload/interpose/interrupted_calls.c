/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interrupted_calls: calls that fail with EINTR after a signal handler, regardless of its flags.
 * Programs wait for their own signals with them, so ours is blocked meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/interpose/signals.h"
#include "preload/interpose/without_ticks.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "safe/clock.h"

#define NS_PER_SEC 1000000000ull

/* The mask that a call sleeps with, plus the signal of ticks. */
static const sigset_t *with_tick(const sigset_t *mask, sigset_t *copy)
{
	if (!mask || !preload_active() || signals_tick() == 0)
		return mask;
	*copy = *mask;
	(void)sigaddset(copy, signals_tick());
	return copy;
}

REAL_DEFINE(poll);
PRELOAD_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return WITHOUT_TICKS(REAL(poll)(fds, count, timeout));
}

REAL_DEFINE(ppoll);
PRELOAD_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			 const sigset_t *mask)
{
	sigset_t copy;

	return WITHOUT_TICKS(REAL(ppoll)(fds, count, timeout, with_tick(mask, &copy)));
}

/* The fortified versions of both. */
extern int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
extern int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		       const sigset_t *mask, size_t room);

REAL_DEFINE(__poll_chk);
PRELOAD_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
{
	return WITHOUT_TICKS(REAL(__poll_chk)(fds, count, timeout, room));
}

REAL_DEFINE(__ppoll_chk);
PRELOAD_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			       const sigset_t *mask, size_t room)
{
	sigset_t copy;

	return WITHOUT_TICKS(REAL(__ppoll_chk)(fds, count, timeout, with_tick(mask, &copy), room));
}

REAL_DEFINE(select);
PRELOAD_EXPORT int select(int count, fd_set *restrict readable, fd_set *restrict writable,
			  fd_set *restrict others, struct timeval *restrict timeout)
{
	return WITHOUT_TICKS(REAL(select)(count, readable, writable, others, timeout));
}

REAL_DEFINE(pselect);
PRELOAD_EXPORT int pselect(int count, fd_set *restrict readable, fd_set *restrict writable,
			   fd_set *restrict others, const struct timespec *restrict timeout,
			   const sigset_t *restrict mask)
{
	sigset_t copy;

	return WITHOUT_TICKS(
		REAL(pselect)(count, readable, writable, others, timeout, with_tick(mask, &copy)));
}

REAL_DEFINE(epoll_wait);
PRELOAD_EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	return WITHOUT_TICKS(REAL(epoll_wait)(fd, events, count, timeout));
}

REAL_DEFINE(epoll_pwait);
PRELOAD_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
			       const sigset_t *mask)
{
	sigset_t copy;

	return WITHOUT_TICKS(REAL(epoll_pwait)(fd, events, count, timeout, with_tick(mask, &copy)));
}

REAL_DEFINE(epoll_pwait2);
PRELOAD_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count,
				const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t copy;

	return WITHOUT_TICKS(
		REAL(epoll_pwait2)(fd, events, count, timeout, with_tick(mask, &copy)));
}

REAL_DEFINE(thrd_sleep);
PRELOAD_EXPORT int thrd_sleep(const struct timespec *duration, struct timespec *left)
{
	return WITHOUT_TICKS(REAL(thrd_sleep)(duration, left));
}

REAL_DEFINE(nanosleep);
PRELOAD_EXPORT int nanosleep(const struct timespec *duration, struct timespec *left)
{
	return WITHOUT_TICKS(REAL(nanosleep)(duration, left));
}

REAL_DEFINE(clock_nanosleep);
PRELOAD_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration,
				   struct timespec *left)
{
	return WITHOUT_TICKS(REAL(clock_nanosleep)(clock, flags, duration, left));
}

REAL_DEFINE(usleep);
PRELOAD_EXPORT int usleep(useconds_t duration_us)
{
	return WITHOUT_TICKS(REAL(usleep)(duration_us));
}

REAL_DEFINE(sleep);
PRELOAD_EXPORT unsigned int sleep(unsigned int duration_s)
{
	return WITHOUT_TICKS(REAL(sleep)(duration_s));
}

REAL_DEFINE(pause);
PRELOAD_EXPORT int pause(void)
{
	return WITHOUT_TICKS(REAL(pause)());
}

REAL_DEFINE(sigsuspend);
PRELOAD_EXPORT int sigsuspend(const sigset_t *mask)
{
	sigset_t copy;

	return REAL(sigsuspend)(with_tick(mask, &copy));
}

REAL_DEFINE(sem_timedwait);
PRELOAD_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	return WITHOUT_TICKS(REAL(sem_timedwait)(semaphore, until));
}

REAL_DEFINE(sem_clockwait);
PRELOAD_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
				 const struct timespec *restrict until)
{
	return WITHOUT_TICKS(REAL(sem_clockwait)(semaphore, clock, until));
}

REAL_DEFINE(semop);
PRELOAD_EXPORT int semop(int id, struct sembuf *operations, size_t count)
{
	return WITHOUT_TICKS(REAL(semop)(id, operations, count));
}

REAL_DEFINE(semtimedop);
PRELOAD_EXPORT int semtimedop(int id, struct sembuf *operations, size_t count,
			      const struct timespec *timeout)
{
	return WITHOUT_TICKS(REAL(semtimedop)(id, operations, count, timeout));
}

REAL_DEFINE(msgrcv);
PRELOAD_EXPORT ssize_t msgrcv(int id, void *message, size_t size, long type, int flags)
{
	return WITHOUT_TICKS(REAL(msgrcv)(id, message, size, type, flags));
}

REAL_DEFINE(msgsnd);
PRELOAD_EXPORT int msgsnd(int id, const void *message, size_t size, int flags)
{
	return WITHOUT_TICKS(REAL(msgsnd)(id, message, size, flags));
}

/* The time left until a deadline; 0: it has passed. */
static struct timespec left_until(uint64_t end_ns)
{
	uint64_t now_ns = safe_clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;

	return (struct timespec){.tv_sec = (time_t)(left_ns / NS_PER_SEC),
				 .tv_nsec = (long)(left_ns % NS_PER_SEC)};
}

/* A program that waits for all signals also receives ours if others send it, but not ticks. */
REAL_DEFINE(sigwaitinfo);
REAL_DEFINE(sigtimedwait);

static int wait_for_others(const sigset_t *set, siginfo_t *info)
{
	siginfo_t own = {.si_signo = 0};
	siginfo_t *told = info ? info : &own;
	int number;

	do
		number = REAL(sigwaitinfo)(set, told);
	while (number > 0 && signals_is_tick(told));
	return number;
}

REAL_DEFINE(sigwait);
PRELOAD_EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
	int got;

	if (!preload_active())
		return REAL(sigwait)(set, number);
	do
		got = WITHOUT_TICKS(wait_for_others(set, NULL));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*number = got;
	return 0;
}

PRELOAD_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return WITHOUT_TICKS(wait_for_others(set, info));
}

PRELOAD_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
				const struct timespec *restrict timeout)
{
	const struct timespec *left = timeout;
	struct timespec rest;
	siginfo_t own = {.si_signo = 0};
	siginfo_t *told = info ? info : &own;
	uint64_t begin_ns = safe_clock_ns(CLOCK_MONOTONIC);
	int number;

	if (!timeout)
		return sigwaitinfo(set, info);
	for (;;) {
		number = WITHOUT_TICKS(REAL(sigtimedwait)(set, told, left));
		if (number <= 0 || !signals_is_tick(told))
			return number;
		rest = left_until(begin_ns + (uint64_t)timeout->tv_sec * NS_PER_SEC +
				  (uint64_t)timeout->tv_nsec);
		left = &rest;
	}
}

REAL_DEFINE(signalfd);
PRELOAD_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	if (signals_names_tick(set))
		signals_make_way();
	return REAL(signalfd)(fd, signals_without_tick(set, &copy), flags);
}

/*
 * Allocating space in memory files fails if a signal arrives. On these CPUs both names are one
 * function, which headers declare under the name with the number.
 */
REAL_DEFINE(fallocate64);
PRELOAD_EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
	return WITHOUT_TICKS(REAL(fallocate64)(fd, mode, offset, bytes));
}

REAL_DEFINE(posix_fallocate64);
PRELOAD_EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t bytes)
{
	return WITHOUT_TICKS(REAL(posix_fallocate64)(fd, offset, bytes));
}

extern __typeof__(fallocate64) short_fallocate __asm__("fallocate");
extern __typeof__(posix_fallocate64) short_posix_fallocate __asm__("posix_fallocate");
PRELOAD_EXPORT __attribute__((alias("fallocate64"))) __typeof__(fallocate64) short_fallocate;
PRELOAD_EXPORT
__attribute__((alias("posix_fallocate64"))) __typeof__(posix_fallocate64) short_posix_fallocate;

/* A read of more than a page of random bytes may be interrupted. */
REAL_DEFINE(getrandom);
PRELOAD_EXPORT ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	return size <= 256 ? REAL(getrandom)(bytes, size, flags)
			   : WITHOUT_TICKS(REAL(getrandom)(bytes, size, flags));
}
