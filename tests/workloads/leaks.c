/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Blocks that are lost, or held in unusual places; each case has sizes of its own, so what a leak
 * check says of them can be told from the sums. Arguments: cases, one after the other.
 */

#include <dlfcn.h>
#include <err.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAKY __attribute__((noinline)) static

struct node {
	struct node *next;
	struct node *other;
	uint64_t room[4];
};

static char folder[PATH_MAX];
/* Nobody reads them: compilers must not know. */
static void *volatile held;
static void *volatile held_too;
static void *volatile inner;
static volatile uint64_t hidden;
static __thread void *volatile of_thread;
static sem_t ready;

/* Filled, so that no word of it is a pointer by chance. */
static void *fill(void *p, size_t size)
{
	if (!p)
		abort();
	return memset(p, 0x11, size);
}

static void *block(size_t size)
{
	return fill(malloc(size), size);
}

LEAKY void lost(void)
{
	(void)block(101);
}

LEAKY void in_global(void)
{
	held = block(211);
}

LEAKY void in_tls(void)
{
	of_thread = block(307);
}

LEAKY void inside_only(void)
{
	inner = (char *)block(1009) + 16;
}

LEAKY void behind_xor(void)
{
	hidden = (uintptr_t)block(409) ^ 0x5555555555555555ull;
}

LEAKY void in_mapping(void)
{
	void **page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page[77] = block(503);
}

static struct node *make_list(int length)
{
	struct node *list = NULL;

	for (int i = 0; i < length; i++) {
		struct node *node = calloc(1, sizeof(*node));

		node->next = list;
		list = node;
	}
	return list;
}

LEAKY void lost_list(void)
{
	(void)make_list(20);
}

LEAKY void lost_ring(void)
{
	struct node *list = make_list(7);
	struct node *last = list;

	while (last->next)
		last = last->next;
	last->next = list;
}

static struct node *make_tree(int depth)
{
	struct node *node = depth > 0 ? calloc(1, sizeof(*node)) : NULL;

	if (node) {
		node->next = make_tree(depth - 1);
		node->other = make_tree(depth - 1);
	}
	return node;
}

LEAKY void lost_tree(void)
{
	(void)make_tree(6);
}

LEAKY void held_tree(void)
{
	held_too = make_tree(5);
}

LEAKY void moved(void)
{
	static char *volatile grown;

	grown = block(601);
	grown = fill(realloc(grown, 300007), 300007); /* a mapping of its own */
	grown = fill(realloc(grown, 400009), 400009);
	(void)fill(realloc(block(48), 70001), 70001);
}

LEAKY void in_freed(void)
{
	void **p = malloc(2000);

	memset(p, 0, 2000);
	p[100] = block(701);
	free(p);
}

LEAKY void of_a_large_block(void)
{
	static void **volatile large;

	large = calloc(1, 1 << 20);
	large[100000] = block(809);
	((void **)block(500000))[5000] = block(907);
}

static void *sleeper(void *argument)
{
	void *volatile on_stack = block(1103);

	of_thread = block(1201);
	(void)argument;
	sem_post(&ready);
	pause();
	return on_stack;
}

LEAKY void sleeping_thread(void)
{
	pthread_t thread;

	sem_init(&ready, 0, 0);
	if (pthread_create(&thread, NULL, sleeper, NULL) != 0)
		abort();
	sem_wait(&ready);
}

static void *ender(void *argument)
{
	void *volatile on_stack = block(1301);

	(void)argument;
	(void)on_stack;
	return NULL;
}

LEAKY void ended_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, ender, NULL) != 0)
			abort();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *open_plugin(void)
{
	char path[PATH_MAX + 32];
	void *plugin;

	(void)snprintf(path, sizeof(path), "%s/leaks_plugin.so", folder);
	plugin = dlopen(path, RTLD_NOW);
	if (!plugin)
		abort();
	return plugin;
}

LEAKY void in_plugin(void)
{
	void *plugin = open_plugin();
	void (*keep)(void *, void *) = (void (*)(void *, void *))(uintptr_t)dlsym(plugin, "keep");

	keep(block(1409), block(1511));
}

LEAKY void closed_plugin(void)
{
	void *plugin = open_plugin();
	void (*keep)(void *, void *) = (void (*)(void *, void *))(uintptr_t)dlsym(plugin, "keep");

	keep(block(1601), NULL);
	dlclose(plugin);
}

/* Sleeps until its input ends. Who stops it must not be noticed. */
LEAKY void wait_for_input(void)
{
	char byte;

	(void)printf("waiting\n");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	(void)printf("%s\n", waitpid(-1, NULL, WNOHANG | __WALL) < 0 ? "alone" : "a child");
}

/* Where no memory has it: ends the program. */
LEAKY void in_register(void)
{
#if defined(__aarch64__)
	register void *kept __asm__("x21") = block(1709);
#else
	register void *kept __asm__("r13") = block(1709);
#endif

	__asm__ volatile("" : "+r"(kept));
	exit(0);
}

/*
 * What functions that have returned left on the stack is gone: frames of the C library have room
 * that they do not write to, and would hold it.
 */
LEAKY void wipe_stack(void)
{
	char room[16384];

	(void)memset(room, 0, sizeof(room));
	__asm__ volatile("" ::"r"(room) : "memory");
}

static _Atomic int ended;

/* Has a buffer of the C library, which frees it when the thread has run all destructors. */
static void *fail_to_open(void *argument)
{
	(void)argument;
	if (dlopen("/there/is/no/such/library.so", RTLD_NOW) || !dlerror())
		abort();
	(void)dlopen("/there/is/none/either.so", RTLD_NOW);
	ended++;
	return NULL;
}

/* Until the kernel has no other thread of ours. */
static void wait_until_alone(void)
{
	struct stat status = {.st_nlink = 4};

	while (stat("/proc/self/task", &status) == 0 && status.st_nlink > 3)
		(void)usleep(1000);
}

/* More than the C library keeps stacks for: of the others each that ends frees some. */
LEAKY void detached_threads(void)
{
	for (int i = 0; i < 60; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, fail_to_open, NULL) != 0 ||
		    pthread_detach(thread) != 0)
			abort();
	}
	while (ended < 60)
		(void)usleep(1000);
	wait_until_alone();
}

/* Most of it is never touched: a page in its midst, and one at its end. */
LEAKY void in_sparse_mapping(void)
{
	size_t words = (4ull << 30) / sizeof(void *);
	void **memory = mmap(NULL, words * sizeof(*memory), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(77);
	memory[words / 2 + 77] = block(2203);
	memory[words - 1] = block(2207);
}

static volatile uint32_t in_vector;

/* Runs for ever, with a pointer that only a vector register has. */
static void *keep_in_vector(void *argument)
{
	uintptr_t mask = 0x5555555555555555ull;
	uintptr_t kept = (uintptr_t)block(2111) ^ mask;

	(void)argument;
	wipe_stack();
#if defined(__aarch64__)
	__asm__ volatile(
		"eor %0, %0, %2\n\tfmov d15, %0\n\tmov %0, #1\n\tstr %w0, %1\n1:\n\tyield\n\tb 1b"
		: "+r"(kept), "=m"(in_vector)
		: "r"(mask)
		: "memory", "v15");
#else
	__asm__ volatile(
		"xor %2, %0\n\tmovq %0, %%xmm15\n\tmov $1, %0\n\tmov %k0, %1\n1:\n\tpause\n\tjmp 1b"
		: "+r"(kept), "=m"(in_vector)
		: "r"(mask)
		: "memory", "xmm15");
#endif
	return NULL;
}

LEAKY void in_vector_register(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, keep_in_vector, NULL) != 0)
		abort();
	while (!in_vector)
		(void)usleep(1000);
}

/* A thread that was made, and is kept from what it is to do: it waits for input. */
static void wait_in_handler(int number)
{
	(void)number;
	sem_post(&ready);
	for (;;)
		(void)pause();
}

static void *never_begun(void *argument)
{
	return argument;
}

/* Older C libraries give a thread the mask of who makes it, and cannot keep it so. */
static int set_mask(pthread_attr_t *attributes, const sigset_t *set)
{
	int (*set_mask_of)(pthread_attr_t *, const sigset_t *) =
		(int (*)(pthread_attr_t *, const sigset_t *))(uintptr_t)dlsym(
			RTLD_DEFAULT, "pthread_attr_setsigmask_np");

	if (!set_mask_of)
		exit(77);
	return set_mask_of(attributes, set);
}

LEAKY void waiting_argument(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t set;

	/* Others block the signal; the new thread meets it when the C library lets it. */
	sem_init(&ready, 0, 0);
	(void)signal(SIGUSR1, wait_in_handler);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)kill(getpid(), SIGUSR1);
	(void)sigemptyset(&set);
	if (pthread_attr_init(&attributes) != 0 || set_mask(&attributes, &set) != 0 ||
	    pthread_create(&thread, &attributes, never_begun, block(1901)) != 0)
		abort();
	(void)pthread_attr_destroy(&attributes);
	sem_wait(&ready);
	wipe_stack();
}

/* Held by a frame of the program when the C library ends it. */
LEAKY void ended_by_err(void)
{
	void *volatile on_stack;

	wipe_stack();
	on_stack = block(1801);
	(void)on_stack;
	errx(0, "over");
}

LEAKY void ended_by_exit(void)
{
	exit(0);
}

/* In a child that calls no exec(). */
LEAKY void lost_by_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)block(2101);
		exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		abort();
}

/* The same, but nobody can look: it is killed. */
LEAKY void killed_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)block(2309);
		(void)raise(SIGKILL);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		abort();
}

/* The same, and nothing is left. */
LEAKY void freed_by_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		free(block(2203));
		exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		abort();
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"child", lost_by_child},
	{"freed-child", freed_by_child},
	{"killed-child", killed_child},
	{"lost", lost},
	{"global", in_global},
	{"tls", in_tls},
	{"inside", inside_only},
	{"xor", behind_xor},
	{"mapping", in_mapping},
	{"list", lost_list},
	{"ring", lost_ring},
	{"tree", lost_tree},
	{"held", held_tree},
	{"moved", moved},
	{"freed", in_freed},
	{"large", of_a_large_block},
	{"sleeping", sleeping_thread},
	{"ended", ended_threads},
	{"plugin", in_plugin},
	{"closed", closed_plugin},
	{"wait", wait_for_input},
	{"register", in_register},
	{"waiting", waiting_argument},
	{"detached", detached_threads},
	{"sparse", in_sparse_mapping},
	{"vector", in_vector_register},
	{"exit", ended_by_exit},
	{"err", ended_by_err},
};

int main(int argc, char **argv)
{
	/* Many: what ends the program has frames in the same place, with room it does not write to.
	 */
	void *volatile in_frame[64] = {NULL};
	char *slash;

	slash = strrchr(argv[0], '/');
	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - argv[0]) : 1,
		       slash ? argv[0] : ".");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "frame") == 0) {
			in_frame[0] = block(2003);
			for (int k = 1; k < 64; k++)
				in_frame[k] = in_frame[0];
		}
		if (strcmp(argv[i], "overwritten") == 0) {
			in_frame[0] = block(2003);
			in_frame[0] = NULL;
		}
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (strcmp(argv[i], cases[k].name) == 0)
				cases[k].run();
	}
	(void)in_frame[0];
	return 0;
}
