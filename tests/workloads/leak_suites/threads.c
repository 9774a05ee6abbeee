/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * threads: blocks of threads that begin, end, fork, and run on other stacks than their own, and
 * programs that are busy while they are looked at. docs/reference/leak-suites.md lists the
 * published cases that these are.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "suite.h"

#define ROUNDS 3
#define THREADS 10

static atomic_int ready;
static __thread void *volatile of_thread;

static void *block(size_t size)
{
	return fill(malloc(size), size);
}

static void wait_for(int count)
{
	while (atomic_load(&ready) < count)
		sched_yield();
}

static pthread_t start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, body, argument) == 0, "a thread");
	return thread;
}

static int task_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	check(tasks != NULL, "the list of tasks");
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* The case is in the name of who allocates. */
#define RETURNS(name, free_argument)                                                               \
	static void *name##__body(void *argument)                                                  \
	{                                                                                          \
		if (free_argument)                                                                 \
			free(argument);                                                            \
		return block(234);                                                                 \
	}

RETURNS(lost_arguments, 0)
RETURNS(lost_results, 1)
RETURNS(nothing_lost, 1)
RETURNS(detached, 1)

NOINLINE static void *lost_arguments__argument(void)
{
	return block(123);
}

static void join_all(void *(*body)(void *), int free_results)
{
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[THREADS];

		for (int i = 0; i < THREADS; i++)
			threads[i] = start(body, lost_arguments__argument());
		for (int i = 0; i < THREADS; i++) {
			void *result = NULL;

			pthread_join(threads[i], &result);
			if (free_results)
				free(result);
		}
	}
}

CASE lost_arguments(void)
{
	join_all(lost_arguments__body, 1);
	expect(DEFINITE, ROUNDS * THREADS * 123, ROUNDS * THREADS);
}

CASE lost_results(void)
{
	join_all(lost_results__body, 0);
	expect(DEFINITE, ROUNDS * THREADS * 234, ROUNDS * THREADS);
}

CASE nothing_lost(void)
{
	join_all(nothing_lost__body, 1);
}

/* What they return nobody can get. */
CASE detached(void)
{
	int tasks = task_count();

	for (int i = 0; i < ROUNDS * THREADS; i++)
		pthread_detach(start(detached__body, NULL));
	while (task_count() > tasks)
		sched_yield();
	expect(DEFINITE, ROUNDS * THREADS * 234, ROUNDS * THREADS);
}

static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

static void *argument_of_a_new_thread__body(void *argument)
{
	pthread_mutex_lock(&never);
	free(argument);
	pthread_mutex_unlock(&never);
	return NULL;
}

/* The program ends right after: the thread may not have run yet. */
CASE argument_of_a_new_thread(void)
{
	expect(REACHABLE, 1337, 1);
	suite_print();
	suite_count = 0;
	pthread_mutex_lock(&never);
	pthread_detach(start(argument_of_a_new_thread__body, block(1337)));
}

static pthread_key_t key;
static atomic_int may_end;

static void hold_up(void *value)
{
	uintptr_t left = (uintptr_t)value;

	if (left > 1) {
		pthread_setspecific(key, (void *)(left - 1));
		return;
	}
	atomic_fetch_add(&ready, 1);
	while (!atomic_load(&may_end))
		sleep(1);
}

/* Of the loader: the C library has a block for it, and frees it when the thread is all but gone. */
static void leave_message(void)
{
	check(dlsym(RTLD_DEFAULT, "a_name_that_nobody_has") == NULL, "a name that nobody has");
}

static void *in_a_destructor__body(void *argument)
{
	of_thread = block(1337);
	leave_message();
	pthread_setspecific(key, argument);
	return NULL;
}

/* Ends while threads run their destructors, in the first round of them and in the last. */
CASE in_a_destructor(void)
{
	check(pthread_key_create(&key, hold_up) == 0, "a key");
	pthread_detach(start(in_a_destructor__body, (void *)1));
	pthread_detach(start(in_a_destructor__body, (void *)PTHREAD_DESTRUCTOR_ITERATIONS));
	wait_for(2);
	expect(REACHABLE, 2 * 1337, 2);
}

NOINLINE static void clean_destructor__late(void *value)
{
	free(value);
}

static void *clean_destructor__body(void *argument)
{
	pthread_key_t *late = argument;

	leave_message();
	pthread_setspecific(*late, block(331));
	return NULL;
}

/* Destructors free what their thread has made, and the C library what it has. */
CASE clean_destructor(void)
{
	pthread_key_t late;

	check(pthread_key_create(&late, clean_destructor__late) == 0, "a key");
	for (int i = 0; i < THREADS; i++)
		pthread_join(start(clean_destructor__body, &late), NULL);
}

static int exit_status(pid_t child)
{
	int status = 0;

	check(waitpid(child, &status, 0) == child && WIFEXITED(status), "the end of a child");
	return WEXITSTATUS(status);
}

/* A child that goes on in the same program. */
CASE forked(void)
{
	pid_t child;

	of_thread = block(1337);
	expect(REACHABLE, 1337, 1);
	child = fork();
	if (child == 0)
		exit(0);
	check(exit_status(child) == 0, "a child's status");
}

static void *exits(void *argument)
{
	(void)argument;
	exit(0);
}

CASE forked_and_threaded(void)
{
	pid_t child;

	of_thread = block(1337);
	expect(REACHABLE, 1337, 1);
	child = fork();
	if (child == 0) {
		pthread_join(start(exits, NULL), NULL);
		_exit(98);
	}
	check(exit_status(child) == 0, "a child's status");
}

NOINLINE static void child_that_loses__lose(void)
{
	(void)block(1337);
}

CASE child_that_loses(void)
{
	pid_t child = fork();

	if (child == 0) {
		child_that_loses__lose();
		scrub();
		exit(0);
	}
	check(exit_status(child) == 0, "a child's status");
}

static void fiber__body(void)
{
	atomic_fetch_add(&ready, 1);
	for (;;)
		sched_yield();
}

static void *fiber__thread(void *argument)
{
	ucontext_t context;

	(void)argument;
	check(getcontext(&context) == 0, "a context");
	context.uc_stack.ss_size = 1 << 14;
	context.uc_stack.ss_sp = block(context.uc_stack.ss_size);
	makecontext(&context, fiber__body, 0);
	setcontext(&context);
	return NULL;
}

/* A thread that runs on a block. Its own stack still knows it. */
CASE fiber(void)
{
	start(fiber__thread, NULL);
	wait_for(1);
	expect(REACHABLE, 1 << 14, 1);
}

static ucontext_t back;

NOINLINE static void lost_on_another_stack__lose(void)
{
	(void)fill(malloc(2664), 2664);
}

static void lost_on_another_stack__body(void)
{
	lost_on_another_stack__lose();
	scrub();
}

/* Lost by calls on a stack in a block, and on one within the stack. */
CASE lost_on_another_stack(void)
{
	static char room[1 << 17] __attribute__((aligned(16)));
	char *heap = block(1 << 17);
	char *const stacks[] = {heap, room};

	for (size_t i = 0; i < COUNT_OF(stacks); i++) {
		ucontext_t context;

		check(getcontext(&context) == 0, "a context");
		context.uc_stack.ss_size = 1 << 16;
		context.uc_stack.ss_sp = stacks[i];
		context.uc_link = &back;
		makecontext(&context, lost_on_another_stack__body, 0);
		check(swapcontext(&back, &context) == 0, "a change of contexts");
	}
	free(heap);
	memset(room, 0, sizeof(room));
	memset(&back, 0, sizeof(back));
	expect(DEFINITE, 2 * 2664, 2);
}

static void *contention__body(void *argument)
{
	(void)argument;
	for (int i = 0; i < 20000; i++) {
		void *made = malloc(10);

		kept(made);
		free(made);
	}
	return NULL;
}

CASE contention(void)
{
	pthread_t threads[5];

	for (size_t i = 0; i < COUNT_OF(threads); i++)
		threads[i] = start(contention__body, NULL);
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		pthread_join(threads[i], NULL);
}

static int busy_with_objects__object(struct dl_phdr_info *info, size_t size, void *data)
{
	void *made[1000];

	(void)info;
	(void)size;
	(void)data;
	for (;;) {
		for (size_t i = 0; i < COUNT_OF(made); i++)
			made[i] = malloc(10 * i);
		atomic_fetch_add(&ready, 1);
		for (size_t i = 0; i < COUNT_OF(made); i++)
			free(made[i]);
	}
	return 1;
}

static void *busy_with_objects__body(void *argument)
{
	(void)argument;
	(void)dl_iterate_phdr(busy_with_objects__object, NULL);
	return NULL;
}

/* Ends while another thread has the loader's lock, and the allocator's now and then. */
CASE busy_with_objects(void)
{
	suite_print();
	suite_count = 0;
	start(busy_with_objects__body, NULL);
	wait_for(1);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* Signals come one after the other while the program ends. */
CASE signal_storm(void)
{
	const struct sigaction action = {.sa_handler = ignore_signal};
	pid_t target = getpid();
	pid_t child;

	expect(DEFINITE, 1337, 1);
	suite_print();
	suite_count = 0;
	check(sigaction(SIGPROF, &action, NULL) == 0 && sigaction(SIGCHLD, &action, NULL) == 0,
	      "a handler");
	(void)block(1337);
	scrub();
	child = fork();
	check(child >= 0, "a child");
	if (child > 0)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (getppid() == target && kill(target, SIGPROF) == 0 && kill(target, SIGCHLD) == 0)
		;
	_exit(0);
}

static void *large_blocks__body(void *argument)
{
	(void)argument;
	while (!atomic_load(&may_end)) {
		for (int i = 0; i < 3; i++)
			free(malloc(1000000));
		atomic_fetch_add(&ready, 1);
		usleep(1000); /* that the recording stays small */
	}
	return NULL;
}

/* Threads that map and unmap blocks until the input ends. */
CASE large_blocks(void)
{
	pthread_t threads[4];
	char byte;

	for (size_t i = 0; i < COUNT_OF(threads); i++)
		threads[i] = start(large_blocks__body, NULL);
	wait_for(100);
	dprintf(STDOUT_FILENO, "ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	atomic_store(&may_end, 1);
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		pthread_join(threads[i], NULL);
}

/* Another process traces this one: nobody else can. */
CASE traced(void)
{
	int ends[2];
	pid_t target = getpid();
	pid_t child;
	char byte;

	(void)block(42);
	check(pipe(ends) == 0, "a pipe");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	child = fork();
	check(child >= 0, "a child");
	if (child == 0) {
		int status;

		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		if (ptrace(PTRACE_SEIZE, target, NULL, NULL) != 0)
			_exit(1);
		(void)!write(ends[1], "x", 1);
		while (waitpid(target, &status, __WALL) == target && !WIFEXITED(status))
			ptrace(PTRACE_CONT, target, NULL, NULL);
		_exit(0);
	}
	close(ends[1]);
	check(read(ends[0], &byte, 1) == 1, "a tracer");
}

static const struct suite_case cases[] = {
	{"lost_arguments", lost_arguments, 0},
	{"lost_results", lost_results, 0},
	{"nothing_lost", nothing_lost, 0},
	{"detached", detached, 0},
	{"clean_destructor", clean_destructor, 0},
	{"contention", contention, 0},
	{"lost_on_another_stack", lost_on_another_stack, 0},
	{"forked", forked, 0},
	{"in_a_destructor", in_a_destructor, 0},
	{"argument_of_a_new_thread", argument_of_a_new_thread, 1},
	{"forked_and_threaded", forked_and_threaded, 1},
	{"child_that_loses", child_that_loses, 1},
	{"fiber", fiber, 1},
	{"busy_with_objects", busy_with_objects, 1},
	{"signal_storm", signal_storm, 1},
	{"large_blocks", large_blocks, 1},
	{"traced", traced, 1},
};

int main(int argc, char **argv)
{
	return suite_main(cases, COUNT_OF(cases), argc, argv);
}
