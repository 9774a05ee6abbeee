/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest WAY MS: does what a library inside it might disturb, and says what it saw:
 *
 *	interrupts   calls that a signal handler makes fail, while it also computes
 *	own-timer    has SIGPROF and the timer of it for itself
 *	blocked      computes with all signals blocked
 *	waiting      a thread that waits for all signals gets one, and only that
 *	held         blocks SIGPROF, alone and with all others, and waits for those sent
 *	full-stack   uses its stack up to the limit, but for less than a signal takes
 *	faults       lives on after faults of its own, by its own handler
 *	no-tables    unmaps the files of whoever samples it from inside
 *	rooms        room for files in memory, and many random bytes at once
 *	small-stack  an alternate stack as small as there may be, with something behind it
 *	nothings     tells of itself with texts that are none
 *	births       threads that live for a moment
 *	narrow       threads with as little stack as there may be
 *	timeouts     waits on sockets for a limited time, which no signal may end
 *	forks        children by fork, vfork and posix_spawn
 *	thread-forks a child of a thread that is not the first
 *	sealed       lets the kernel end it at any call but a few
 *	by-sigset    has SIGPROF by sigset(), and holds it
 *	becomes PATH asks for the timer of its CPU time, which is to rest, and becomes another
 *program dies HOW     by exit, _exit, abort, kill or segv
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "wick/wick.h"

static double cpu_ms(void)
{
	return (double)clock_now_ns(CLOCK_THREAD_CPUTIME_ID) / 1e6;
}

static NOINLINE void burn_ms(double ms)
{
	burn_cpu((uint64_t)(ms * 1e6));
}

static _Atomic unsigned long ticks;
static sigjmp_buf back;
static volatile int *volatile nowhere = (volatile int *)8; /* the compiler does not know */

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	siglongjmp(back, 1);
}

static int interrupts(double ms)
{
	unsigned long interrupted = 0;
	unsigned long calls = 0;
	int epoll = epoll_create1(0);
	double end = cpu_ms() + ms;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	while (cpu_ms() < end) {
		struct timespec moment = {.tv_nsec = 100000};
		struct timeval short_time = {.tv_usec = 100};
		struct epoll_event event;
		struct timespec until;

		burn_ms(0.2);
		interrupted += poll(NULL, 0, 1) < 0;
		interrupted += nanosleep(&moment, NULL) < 0;
		interrupted += select(0, NULL, NULL, NULL, &short_time) < 0;
		interrupted += epoll_wait(epoll, &event, 1, 1) < 0;
		clock_gettime(CLOCK_REALTIME, &until);
		interrupted += sem_timedwait(&semaphore, &until) < 0 && errno == EINTR;
		interrupted += usleep(50) < 0;
		calls += 6;
	}
	printf("{\"interrupted\": %lu, \"calls\": %lu}\n", interrupted, calls);
	return 0;
}

static int own_timer(double ms)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigaction seen;
	unsigned long others;

	sigaction(SIGPROF, &action, NULL);
	burn_ms(50); /* who also uses the signal would be heard now */
	others = ticks;
	setitimer(ITIMER_PROF, &every, NULL);
	burn_ms(ms);
	sigaction(SIGPROF, NULL, &seen);
	printf("{\"ticks\": %lu, \"others\": %lu, \"kept\": %s}\n", (unsigned long)ticks, others,
	       seen.sa_handler == on_tick ? "true" : "false");
	return 0;
}

static int blocked(double ms)
{
	sigset_t all;
	sigset_t seen;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	burn_ms(ms);
	pthread_sigmask(SIG_SETMASK, NULL, &seen);
	printf("{\"blocked\": %d}\n", sigismember(&seen, SIGPROF));
	return 0;
}

static void *wait_for_all(void *argument)
{
	sigset_t all;
	int number = 0;

	(void)argument;
	sigfillset(&all);
	return sigwait(&all, &number) == 0 ? (void *)(long)number : NULL;
}

static int waiting(double ms)
{
	pthread_t thread;
	sigset_t all;
	void *number;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&thread, NULL, wait_for_all, NULL);
	burn_ms(ms);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &number);
	printf("{\"waited_for\": %ld, \"sent\": %d}\n", (long)number, SIGUSR1);
	return 0;
}

/* Where the stack of the first thread ends, as the kernel tells; 0: unknown. */
static uintptr_t stack_end(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long low = 0;
	unsigned long high = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			(void)sscanf(line, "%lx-%lx", &low, &high);
	if (maps)
		fclose(maps);
	return high;
}

static NOINLINE void use_stack(size_t bytes, double ms)
{
	volatile char *room = __builtin_alloca(bytes);

	room[0] = 1;
	burn_ms(ms);
	room[0]++;
}

static int full_stack(double ms)
{
	struct rlimit limit = {.rlim_cur = 0};
	char here;
	size_t used = stack_end() - (uintptr_t)&here;

	getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur <= 64u << 20)
		use_stack(limit.rlim_cur - used - 6000, ms);
	printf("{\"lived\": true}\n");
	return 0;
}

static volatile sig_atomic_t held_calls;

static void count_held(int number)
{
	(void)number;
	held_calls++;
}

/* Whether a program that this one starts finds the signal blocked, as its state tells. */
static void print_inherited(void)
{
	char line[64] = "";
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		return;
	child = fork();
	if (child == 0) {
		dup2(ends[1], 1);
		execlp("grep", "grep", "SigBlk", "/proc/self/status", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], line, sizeof(line) - 1) <= 0)
		line[0] = '\0';
	close(ends[0]);
	waitpid(child, NULL, 0);
	printf("\"inherited\": %d, ",
	       (int)(strtoull(line + strcspn(line, "\t"), NULL, 16) >> (SIGPROF - 1) & 1));
}

/* Signals that are sent while they are blocked wait; those that are not sent never come. */
static void hold(const char *name, const sigset_t *set, double ms)
{
	struct timespec moment = {.tv_nsec = 20000000};
	sigset_t pending;
	siginfo_t info = {.si_signo = 0};
	sigset_t before;
	int early;
	int number = 0;

	pthread_sigmask(SIG_BLOCK, set, &before);
	burn_ms(ms);
	early = sigtimedwait(set, &info, &moment);
	kill(getpid(), SIGPROF);
	burn_ms(ms);
	sigpending(&pending);
	printf("\"%s\": {\"early\": %d, \"pending\": %d, ", name, early,
	       sigismember(&pending, SIGPROF));
	fflush(stdout);
	print_inherited();
	sigwait(set, &number);
	kill(getpid(), SIGPROF);
	printf("\"got\": %d, ", number);
	number = sigtimedwait(set, &info, &moment);
	printf("\"again\": %d, \"sender\": %d}, ", number, info.si_pid == getpid());
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int held(double ms)
{
	struct sigaction action = {.sa_handler = count_held};
	sigset_t all;
	sigset_t one;
	int early;

	sigfillset(&all);
	sigdelset(&all, SIGTERM);
	sigdelset(&all, SIGCHLD);
	sigemptyset(&one);
	sigaddset(&one, SIGPROF);
	printf("{");
	hold("all", &all, ms / 4);
	hold("one", &one, ms / 4);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	sigaction(SIGPROF, &action, NULL);
	raise(SIGPROF);
	early = (int)held_calls;
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	printf("\"early\": %d, \"calls\": %d}\n", early, (int)held_calls);
	return 0;
}

static int faults(double ms)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	double end = cpu_ms() + ms;
	volatile unsigned long survived = 0;

	sigaction(SIGSEGV, &action, NULL);
	while (cpu_ms() < end) {
		burn_ms(0.1);
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
		survived++;
	}
	printf("{\"survived\": %s}\n", survived > 10 ? "true" : "false");
	return 0;
}

static int no_tables(double ms)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from[8];
	unsigned long to[8];
	int count = 0;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/tables") && count < 8 &&
		    sscanf(line, "%lx-%lx", &from[count], &to[count]) == 2)
			count++;
	if (maps)
		fclose(maps);
	for (int i = 0; i < count; i++)
		munmap((void *)from[i], to[i] - from[i]);
	burn_ms(ms);
	printf("{\"unmapped\": %d}\n", count);
	return 0;
}

static _Atomic uint64_t lived_ns;

static void *live_shortly(void *argument)
{
	lived_ns += burn_cpu((uint64_t)(*(const double *)argument * 1e6));
	return NULL;
}

static int rooms(double ms)
{
	static char bytes[4 << 20];
	unsigned long cut = 0;
	double end = cpu_ms() + ms;
	int fd = memfd_create("room", 0);

	while (cpu_ms() < end) {
		if (fallocate(fd, 0, 0, 32 << 20) < 0 || posix_fallocate(fd, 0, 48 << 20) != 0 ||
		    getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			cut++;
		if (ftruncate(fd, 0) < 0)
			return 1;
	}
	printf("{\"cut\": %lu}\n", cut);
	return 0;
}

static int small_stack(double ms)
{
	long least = sysconf(_SC_MINSIGSTKSZ);
	size_t size = least > 5120 ? (size_t)least : 5120;
	unsigned char *memory = malloc(size + 4096); /* stacks grow down: below it is the fence */
	stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
	unsigned long changed = 0;

	memset(memory, 0xa5, size + 4096);
	if (sigaltstack(&stack, NULL) < 0)
		return 1;
	burn_ms(ms);
	for (int i = 0; i < 4096; i++)
		changed += memory[i] != 0xa5;
	printf("{\"changed\": %lu}\n", changed);
	return 0;
}

static int nothings(double ms)
{
	wick_label(NULL, "x");
	wick_label("x", NULL);
	wick_profile_begin(NULL);
	wick_event(NULL, 1);
	wick_event("beyond", UINT64_MAX);
	burn_ms(ms);
	wick_profile_end();
	printf("{\"told\": true}\n");
	return 0;
}

static int births(double ms)
{
	double moment = 0.3;
	unsigned long born = 0;
	double end = cpu_ms() + ms;

	while (cpu_ms() < end) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++)
			born += pthread_create(&threads[i], NULL, live_shortly, &moment) == 0;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	printf("{\"born\": %lu, \"lived_ns\": %llu}\n", born, (unsigned long long)lived_ns);
	return 0;
}

static void *fill_stack(void *argument)
{
	volatile char room[2048];

	for (unsigned int i = 0; i < sizeof(room); i++)
		room[i] = (char)i;
	burn_ms(*(const double *)argument);
	return (void *)(long)room[100];
}

static int narrow(double ms)
{
	double part = ms / 8;
	pthread_attr_t attributes;
	long sum = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < 8; i++) {
		pthread_t thread;
		void *result = NULL;

		if (pthread_create(&thread, &attributes, fill_stack, &part) == 0)
			pthread_join(thread, &result);
		sum += (long)result;
	}
	printf("{\"sum\": %ld}\n", sum);
	return 0;
}

/* Calls on a socket with a time limit fail with EINTR even where handlers restart calls. */
static int timeouts(double ms)
{
	struct timeval limit = {.tv_usec = 3000};
	unsigned long interrupted = 0;
	unsigned long calls = 0;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		return 1;
	for (double spent = 0; spent < ms; spent += 4) {
		char byte;

		burn_ms(4);
		interrupted += recv(ends[0], &byte, 1, 0) < 0 && errno == EINTR;
		interrupted += read(ends[0], &byte, 1) < 0 && errno == EINTR;
		calls += 2;
	}
	printf("{\"interrupted\": %lu, \"calls\": %lu}\n", interrupted, calls);
	return 0;
}

static int forks(double ms)
{
	char name[] = "true";
	char *const arguments[] = {name, NULL};
	struct sigaction action = {.sa_handler = on_tick};
	volatile int statuses = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		burn_ms(ms);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	statuses += WEXITSTATUS(status) == 3;
	sigaction(SIGSEGV, &action, NULL);
	pid = vfork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL); /* of the child alone */
		execv("/bin/true", arguments);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	statuses += status == 0;
	sigaction(SIGSEGV, NULL, &action);
	statuses += action.sa_handler == on_tick;
	posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ);
	waitpid(pid, &status, 0);
	statuses += status == 0;
	burn_ms(ms);
	printf("{\"right\": %d}\n", statuses);
	return 0;
}

static NOINLINE void *fork_there(void *argument)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		burn_ms(*(const double *)argument);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return (void *)(long)(status == 0);
}

static int thread_forks(double ms)
{
	pthread_t thread;
	void *right = NULL;

	pthread_create(&thread, NULL, fork_there, &ms);
	pthread_join(thread, &right);
	printf("{\"right\": %ld}\n", (long)right);
	return 0;
}

static int sealed(double ms)
{
	burn_ms(ms);
	printf("{\"sealed\": true}\n");
	fflush(stdout);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	for (volatile unsigned long i = 0; i < 100000000; i++)
		;
	syscall(SYS_exit, 4);
	return 0;
}

static int dies(double ms, const char *how)
{
	burn_ms(ms);
	printf("{\"dies\": \"%s\"}\n", how);
	fflush(stdout);
	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	return 5;
}

/* Of a timer that it never set it sees nothing, and nothing of it goes on in what it becomes. */
static int becomes(double ms, const char *path)
{
	struct itimerval shown[2] = {{{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}};
	struct itimerval none = {{0, 0}, {0, 0}};

	burn_ms(ms / 2);
	getitimer(ITIMER_PROF, &shown[0]);
	setitimer(ITIMER_PROF, &none, &shown[1]);
	burn_ms(ms / 2);
	for (int i = 0; i < 2; i++)
		if (shown[i].it_value.tv_sec || shown[i].it_value.tv_usec ||
		    shown[i].it_interval.tv_usec)
			return 3;
	execl("/nowhere/at/all", "x", (char *)NULL);
	burn_ms(ms);
	execl(path, path, "100", (char *)NULL);
	return 4;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* there are programs that do */

/* The oldest way to have a signal, which is let through by that. */
static int by_sigset(double ms)
{
	bool right = sigset(SIGPROF, on_tick) == SIG_DFL;
	sigset_t seen;

	burn_ms(ms / 2);
	pthread_sigmask(SIG_SETMASK, NULL, &seen);
	right = right && !sigismember(&seen, SIGPROF) && ticks == 0;
	raise(SIGPROF);
	burn_ms(ms / 2);
	right = right && ticks == 1 && sigset(SIGPROF, SIG_HOLD) == on_tick;
	raise(SIGPROF);
	right = right && ticks == 1 && sigset(SIGPROF, on_tick) == SIG_HOLD && ticks == 2;
	right = right && sigset(SIGPROF, SIG_DFL) == on_tick;
	printf("{\"right\": %s, \"ticks\": %lu}\n", right ? "true" : "false", (unsigned long)ticks);
	return 0;
}

#pragma GCC diagnostic pop

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	double ms = argc > 2 ? atof(argv[2]) : 200;
	static const struct {
		const char *name;
		int (*run)(double ms);
	} ways[] = {{"interrupts", interrupts},
		    {"own-timer", own_timer},
		    {"blocked", blocked},
		    {"waiting", waiting},
		    {"held", held},
		    {"full-stack", full_stack},
		    {"faults", faults},
		    {"no-tables", no_tables},
		    {"births", births},
		    {"forks", forks},
		    {"rooms", rooms},
		    {"small-stack", small_stack},
		    {"nothings", nothings},
		    {"narrow", narrow},
		    {"timeouts", timeouts},
		    {"sealed", sealed},
		    {"thread-forks", thread_forks},
		    {"by-sigset", by_sigset}};

	if (strcmp(way, "dies") == 0)
		return dies(ms, argc > 3 ? argv[3] : "exit");
	if (strcmp(way, "becomes") == 0)
		return becomes(ms, argc > 3 ? argv[3] : "/bin/true");
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(way, ways[i].name) == 0)
			return ways[i].run(ms);
	return 2;
}
