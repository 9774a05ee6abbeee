/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * roots: places from which a program can get to a block, and places that look like it and are
 * none. docs/reference/leak-suites.md lists the published cases that these are.
 */

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "suite.h"

static char *program;
static void *volatile in_data = (void *)1;
static void *volatile in_bss;
static __thread void *volatile in_tls;

static void *block(size_t size)
{
	return fill(malloc(size), size);
}

CASE initialised_data(void)
{
	in_data = block(1337);
	expect(REACHABLE, 1337, 1);
}

CASE zeroed_data(void)
{
	in_bss = block(1337);
	expect(REACHABLE, 1337, 1);
}

CASE thread_local_data(void)
{
	in_tls = block(1337);
	expect(REACHABLE, 1337, 1);
}

/* glibc has the first 32 values in the thread's own memory, and a block for those beyond. */
CASE value_of_a_key(void)
{
	pthread_key_t key;

	check(pthread_key_create(&key, NULL) == 0 && key < 32, "one of the first keys");
	check(pthread_setspecific(key, block(1337)) == 0, "a value of a key");
	expect(REACHABLE, 1337, 1);
}

CASE value_of_a_late_key(void)
{
	pthread_key_t key;

	do
		check(pthread_key_create(&key, NULL) == 0, "a key");
	while (key < 40);
	check(pthread_setspecific(key, block(1337)) == 0, "a value of a key");
	expect(REACHABLE, 1337, 1);
}

static void *open_module(void)
{
	char path[PATH_MAX];
	char *slash = strrchr(program, '/');
	void *module;

	(void)snprintf(path, sizeof(path), "%.*s/module.so", (int)(slash ? slash - program : 0),
		       program);
	module = dlopen(path, RTLD_NOW);
	check(module != NULL, "opening a module");
	return module;
}

/* More than there is room for beside the program's own: the loader gets a block for it. */
CASE thread_local_of_a_module(void)
{
	void *(*keep)(void *) = (void *(*)(void *))(uintptr_t)dlsym(open_module(), "module_keep");
	void *made = block(1337);

	check(keep(made) == made, "what a module keeps");
	expect(REACHABLE, 1337, 1);
}

/* Allocated by a module that is gone at the end. */
CASE module_that_was_closed(void)
{
	for (int i = 0; i < 2; i++) {
		void *module = open_module();
		void *(*lose)(size_t) =
			(void *(*)(size_t))(uintptr_t)dlsym(module, "module_that_was_closed__lose");

		(void)lose(71);
		dlclose(module);
	}
	expect(DEFINITE, 142, 2);
}

NOINLINE static void stale_stack__leave(void *made)
{
	void *volatile locals[2048];

	for (size_t i = 0; i < COUNT_OF(locals); i++)
		locals[i] = i == 7 ? made : NULL;
	kept((void *)(uintptr_t)locals);
}

/* Deep in a part of the stack that no call has used since. */
CASE stale_stack(void)
{
	stale_stack__leave(block(1337));
	expect(DEFINITE, 1337, 1);
}

/* Ends the program within a frame that holds the block. */
CASE frame_that_exits(void)
{
	void *volatile on_stack = block(1337);

	(void)on_stack;
	expect(REACHABLE, 1337, 1);
	suite_print();
	exit(0);
}

NOINLINE static void dead_frame__leave(void)
{
	void *volatile locals[64];
	void *made = block(100);

	for (size_t i = 0; i < COUNT_OF(locals); i++)
		locals[i] = made;
	kept((void *)(uintptr_t)locals);
}

NOINLINE static void no_pointer_in_registers(void)
{
	char digits[64];

	(void)snprintf(digits, sizeof(digits), "%d %s", 5, "six");
}

/* The handlers of exit() run on top of what a frame has left, and do not overwrite all of it. */
CASE dead_frame(void)
{
	expect(DEFINITE, 100, 1);
	suite_print();
	dead_frame__leave();
	exit(0);
}

CASE frame_of_main(void)
{
	expect(DEFINITE, 100, 1);
	suite_print();
	dead_frame__leave();
	no_pointer_in_registers();
	suite_count = 0;
}

#define THREADS 10
static atomic_int ready;

static void start(void *(*body)(void *), void *argument)
{
	pthread_t thread;
	int before = atomic_load(&ready);

	check(pthread_create(&thread, NULL, body, argument) == 0, "a thread");
	while (atomic_load(&ready) == before)
		sched_yield();
}

static void *thread_stack__body(void *argument)
{
	void *volatile on_stack = block(1337);

	(void)argument;
	atomic_fetch_add(&ready, 1);
	for (;;)
		sched_yield();
	return on_stack;
}

CASE thread_stack(void)
{
	start(thread_stack__body, NULL);
	expect(REACHABLE, 1337, 1);
}

/* So that no memory has the address. */
NOINLINE static uint64_t thread_register__block(void)
{
	return ~(uintptr_t)block(1337);
}

NOINLINE static uint64_t vector_register__block(void)
{
	return ~(uintptr_t)block(1337);
}

/*
 * Puts the address that `turned` turns around into a register, and none into others, says so, and
 * runs for ever.
 */
#if defined(__aarch64__)
#define NO_OTHERS                                                                                  \
	"mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x4, #0\n\tmov x5, #0\n\t"     \
	"mov x6, #0\n\tmov x7, #0\n\tmov x10, #0\n\tmov x11, #0\n\tmov x12, #0\n\t"                \
	"mov x13, #0\n\tmov x14, #0\n\tmov x15, #0\n\tmov x16, #0\n\tmov x17, #0\n\t"
#define HOLD(register, move, turned)                                                               \
	__asm__ volatile(NO_OTHERS                                                                 \
			 "mvn x8, %0\n\t" move                                                     \
			 " " register ", x8\n\tmov x8, #0\n\tmov w9, #1\n\tstr w9, [%1]\n"         \
				      "1:\tyield\n\tb 1b"                                          \
			 :                                                                         \
			 : "r"(turned), "r"(&ready)                                                \
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",      \
			   "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x27", "d9", "memory")
#define PLAIN "x27", "mov"
#define VECTOR "d9", "fmov"
#else
#define NO_OTHERS                                                                                  \
	"xor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\txor %%edi, %%edi\n\t"         \
	"xor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\t"
#define HOLD(register, move, turned)                                                               \
	__asm__ volatile(NO_OTHERS                                                                 \
			 "not %0\n\t" move                                                         \
			 " %0, %%" register "\n\txor %0, %0\n\tmovl $1, (%1)\n1:\tpause\n\tjmp 1b" \
			 : "+a"(turned)                                                            \
			 : "b"(&ready)                                                             \
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r15", "xmm9",    \
			   "memory")
#define PLAIN "r15", "mov"
#define VECTOR "xmm9", "movq"
#endif
#define HOLD_IN(where, turned) HOLD(where, turned)

/* Only a register has the pointer; the thread runs. */
static void *thread_register__body(void *argument)
{
	uint64_t turned = thread_register__block();

	(void)argument;
	scrub();
	HOLD_IN(PLAIN, turned);
	return NULL;
}

CASE thread_register(void)
{
	start(thread_register__body, NULL);
	expect(REACHABLE, 1337, 1);
}

static void *vector_register__body(void *argument)
{
	uint64_t turned = vector_register__block();

	(void)argument;
	scrub();
	HOLD_IN(VECTOR, turned);
	return NULL;
}

CASE vector_register(void)
{
	start(vector_register__body, NULL);
	expect(REACHABLE, 1337, 1);
}

static __thread void *volatile several[5];

static void *thread_locals__body(void *argument)
{
	(void)argument;
	for (size_t i = 0; i < COUNT_OF(several); i++)
		several[i] = block(1111 * (i + 1));
	atomic_fetch_add(&ready, 1);
	for (;;)
		sleep(100);
	return NULL;
}

CASE thread_locals(void)
{
	for (int i = 0; i < THREADS; i++)
		start(thread_locals__body, NULL);
	expect(REACHABLE, THREADS * 15 * 1111, THREADS * COUNT_OF(several));
}

/* All but a few, which who watches the program may have. */
static pthread_key_t keys[PTHREAD_KEYS_MAX - 24];
static size_t key_count;

static void *all_keys__body(void *argument)
{
	(void)argument;
	for (size_t i = 0; i < key_count; i++)
		check(pthread_setspecific(keys[i], block(123)) == 0, "a value of a key");
	atomic_fetch_add(&ready, 1);
	for (;;)
		sleep(100);
	return NULL;
}

static void no_destructor_runs(void *value)
{
	(void)value;
	check(0, "no destructor of a thread that goes on");
}

CASE all_keys(void)
{
	while (key_count < COUNT_OF(keys) &&
	       pthread_key_create(&keys[key_count], no_destructor_runs) == 0)
		key_count++;
	for (int i = 0; i < THREADS; i++)
		start(all_keys__body, NULL);
	expect(REACHABLE, THREADS * key_count * 123, THREADS * key_count);
}

/* Stages of one block: scans between them tell what has changed. */
CASE stages(void)
{
	static char *volatile held[4];
	char answer[2] = {0, '\n'};
	char order;

	held[0] = block(10);
	while (read(STDIN_FILENO, &order, 1) == 1) {
		switch (order) {
		case 'l': /* one is lost, one is new */
			held[0]--;
			held[1] = block(21);
			break;
		case 'n': /* two more */
			held[2] = block(32);
			held[3] = block(33);
			break;
		case 'f': /* found again */
			held[0]++;
			break;
		case 'h': /* one of two of a place is lost */
			held[2]--;
			break;
		default:
			break;
		}
		scrub();
		/* dprintf() has a buffer of 4 KB for a moment, which a scan may see. */
		answer[0] = order;
		check(write(STDOUT_FILENO, answer, sizeof(answer)) == sizeof(answer), "an answer");
	}
}

static const struct suite_case cases[] = {
	{"initialised_data", initialised_data, 0},
	{"zeroed_data", zeroed_data, 0},
	{"thread_local_data", thread_local_data, 0},
	{"value_of_a_key", value_of_a_key, 0},
	{"value_of_a_late_key", value_of_a_late_key, 0},
	{"stale_stack", stale_stack, 0},
	{"thread_stack", thread_stack, 0},
	{"thread_locals", thread_locals, 0},
	{"module_that_was_closed", module_that_was_closed, 1},
	{"thread_local_of_a_module", thread_local_of_a_module, 1},
	{"frame_that_exits", frame_that_exits, 1},
	{"dead_frame", dead_frame, 1},
	{"frame_of_main", frame_of_main, 1},
	{"thread_register", thread_register, 1},
	{"vector_register", vector_register, 1},
	{"all_keys", all_keys, 1},
	{"stages", stages, 1},
};

int main(int argc, char **argv)
{
	program = argv[0];
	return suite_main(cases, COUNT_OF(cases), argc, argv);
}
