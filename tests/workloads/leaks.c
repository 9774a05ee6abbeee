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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Held by a frame of the program when the C library ends it. */
LEAKY void ended_by_err(void)
{
	void *volatile on_stack = block(1801);

	(void)on_stack;
	errx(0, "over");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
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
	{"err", ended_by_err},
};

int main(int argc, char **argv)
{
	char *slash;

	slash = strrchr(argv[0], '/');
	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - argv[0]) : 1,
		       slash ? argv[0] : ".");
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (strcmp(argv[i], cases[k].name) == 0)
				cases[k].run();
	return 0;
}
