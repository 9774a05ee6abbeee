/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * shapes: blocks that point to each other, and what the allocator's functions do with them. The
 * cases are those of memcheck's and LeakSanitizer's tests, as docs/reference/leak-suites.md lists.
 */

#include <fcntl.h>
#include <sys/mman.h>

#include "suite.h"

/* As large as those of any machine, so that it can be forbidden. */
#define PAGE 65536u

struct pair {
	struct pair *left;
	struct pair *right;
};

static struct pair *pair(struct pair *left, struct pair *right)
{
	struct pair *made = malloc(sizeof(*made));

	check(made != NULL, "memory for a pair");
	*made = (struct pair){left, right};
	kept(made);
	return made;
}

static struct pair *inside(struct pair *block)
{
	return (struct pair *)&block->right;
}

/* Roots; nobody reads them, so compilers must not know. */
static struct pair *volatile roots[16];

/* memcheck's nine ways to be pointed at: by a root or nobody, to the beginning or into it. */
CASE chains(void)
{
	roots[0] = pair(NULL, NULL);
	roots[1] = pair(pair(NULL, NULL), NULL);
	expect(REACHABLE, 3 * sizeof(struct pair), 3);
	(void)pair(NULL, NULL);
	expect(DEFINITE, sizeof(struct pair), 1);
	(void)pair(pair(NULL, NULL), NULL);
	expect(DEFINITE, sizeof(struct pair), 1);
	expect(INDIRECT, sizeof(struct pair), 1);
	roots[2] = inside(pair(NULL, NULL));
	expect(POSSIBLE, sizeof(struct pair), 1);
	roots[3] = pair(inside(pair(NULL, NULL)), NULL);
	expect(REACHABLE, sizeof(struct pair), 1);
	expect(POSSIBLE, sizeof(struct pair), 1);
	roots[4] = inside(pair(pair(NULL, NULL), NULL));
	expect(POSSIBLE, 2 * sizeof(struct pair), 2);
	roots[5] = inside(pair(inside(pair(NULL, NULL)), NULL));
	expect(POSSIBLE, 2 * sizeof(struct pair), 2);
	(void)pair(inside(pair(NULL, NULL)), NULL);
	expect(DEFINITE, sizeof(struct pair), 1);
	expect(INDIRECT, sizeof(struct pair), 1);
}

static struct pair *ring(void)
{
	struct pair *first = pair(NULL, NULL);

	first->left = pair(pair(first, NULL), NULL);
	return first;
}

/* Rings alone, rings of which one leads to another, rings that lead to each other. */
CASE rings(void)
{
	struct pair *one;
	struct pair *other;

	(void)ring();
	(void)ring();
	expect(DEFINITE, 2 * sizeof(struct pair), 2);
	expect(INDIRECT, 4 * sizeof(struct pair), 4);
	one = ring();
	other = ring();
	/* From the higher to the lower one: a leader that comes under another later. */
	if ((uintptr_t)one < (uintptr_t)other)
		other->right = one;
	else
		one->right = other;
	one = ring();
	other = ring();
	one->right = other;
	other->right = one;
	expect(DEFINITE, 2 * sizeof(struct pair), 2);
	expect(INDIRECT, 10 * sizeof(struct pair), 10);
}

/* A tree of which a leaf and half of the rest are cut off. */
CASE tree(void)
{
	struct pair *top = pair(pair(pair(NULL, NULL), pair(NULL, NULL)),
				pair(pair(NULL, NULL), pair(NULL, NULL)));

	top->left->left = NULL;
	top->right = NULL;
	roots[6] = top;
	expect(REACHABLE, 3 * sizeof(struct pair), 3);
	expect(DEFINITE, 2 * sizeof(struct pair), 2);
	expect(INDIRECT, 2 * sizeof(struct pair), 2);
}

/* Points to itself: that is nobody else who leads to it. */
CASE pointer_to_self(void)
{
	void **block = fill(malloc(1337), 1337);

	block[0] = block;
	expect(DEFINITE, 1337, 1);
}

CASE many_small(void)
{
	for (int i = 0; i < 1000; i++)
		(void)fill(malloc(1), 1);
	expect(DEFINITE, 1000, 1000);
}

/* As simple as can be: the pointer is overwritten a moment later. */
CASE overwritten(void)
{
	__attribute__((unused)) static void *volatile pointer;

	pointer = fill(malloc(1024), 1024);
	pointer = NULL;
	expect(DEFINITE, 1024, 1);
}

CASE twice_the_same_place(void)
{
	for (int i = 0; i < 2; i++)
		*(volatile int *)fill(malloc(20), 20) = 1;
	expect(DEFINITE, 40, 2);
}

CASE held_by_a_static(void)
{
	__attribute__((unused)) static int *volatile held;

	held = fill(malloc(1000), 1000);
	expect(REACHABLE, 1000, 1);
}

/* Blocks without a byte are blocks. */
CASE no_bytes(void)
{
	__attribute__((unused)) static void *volatile held;
	void *volatile lost = malloc(0);

	check(lost != NULL, "a block without bytes");
	lost = NULL;
	expect(DEFINITE, 0, 1);
	held = malloc(0);
	expect(REACHABLE, 0, 1);
}

/* What realloc() frees, makes of nothing, and leaves alone when it fails. */
CASE realloc_ways(void)
{
	volatile size_t none = 0;
	volatile size_t too_much = SIZE_MAX / 4;
	void *given = malloc(1);
	void *made;
	char *kept;

	made = realloc(given, none); /* frees, with glibc */
	check(made == NULL, "realloc() to no bytes");
	made = realloc(NULL, none);
	check(made != NULL, "realloc() of nothing to no bytes");
	free(made);
	kept = fill(malloc(9), 9);
	made = realloc(kept, too_much);
	check(made == NULL, "realloc() that fails");
	for (int i = 0; i < 9; i++)
		check(kept[i] == 0x11, "what a block holds after realloc() failed");
	expect(DEFINITE, 9, 1);
	kept = fill(malloc(100), 100);
	made = realloc(kept, too_much);
	check(made == NULL, "realloc() that fails");
	free(kept);
}

CASE large(void)
{
	(void)fill(malloc(32u << 20), 64);
	expect(DEFINITE, 32u << 20, 1);
}

/* At an odd address: not where programs keep pointers. */
CASE unaligned(void)
{
	static char room[3 * sizeof(void *)] __attribute__((aligned(8)));
	void *block = fill(malloc(1339), 1339);

	memcpy(room + 1, &block, sizeof(block));
	expect(DEFINITE, 1339, 1);
}

CASE integers(void)
{
	static volatile uintptr_t numbers[1024];

	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		numbers[i] = (uintptr_t)fill(malloc(sizeof(int *)), sizeof(int *));
	expect(REACHABLE, COUNT_OF(numbers) * sizeof(int *), COUNT_OF(numbers));
}

static void forbid(char *from, char *to)
{
	uintptr_t start = ((uintptr_t)from + PAGE - 1) / PAGE * PAGE;

	check(mprotect((void *)start, ((uintptr_t)to - start) / PAGE * PAGE, PROT_NONE) == 0,
	      "forbidding pages");
}

/* A pointer in pages that cannot be read: of a block, of data. */
CASE unreadable(void)
{
	static void **volatile table;
	__attribute__((unused)) static char *volatile known_by[3];
	static void *volatile in_data[1 << 17];
	size_t size = 50 * PAGE;
	char *text = fill(malloc(size), size);

	table = fill(malloc(size), size);
	table[25 * PAGE / sizeof(void *)] = fill(malloc(1001), 1001);
	table[0] = fill(malloc(1003), 1003);
	forbid((char *)table + 20 * PAGE, (char *)table + 30 * PAGE);
	in_data[1 << 16] = fill(malloc(1005), 1005);
	forbid((char *)(uintptr_t)in_data, (char *)(uintptr_t)(in_data + COUNT_OF(in_data)));
	expect(REACHABLE, size + 1003, 2);
	expect(DEFINITE, 1001 + 1005, 2);
	/* Where counts and lengths would lie nothing can be read, so nothing explains these. */
	known_by[0] = text + 3 * sizeof(size_t);
	known_by[1] = text + sizeof(size_t);
	known_by[2] = text + sizeof(size_t);
	check(mprotect((char *)((uintptr_t)text / PAGE * PAGE), 20 * PAGE, PROT_NONE) == 0,
	      "forbidding pages");
	expect(POSSIBLE, size, 1);
}

/* Mappings that cannot be read, or have no bytes behind them, and pointers to them. */
CASE traps(void)
{
	char name[] = "/tmp/wick-traps-XXXXXX";
	int fd = mkstemp(name);
	size_t size = 16 * PAGE;
	static void **volatile pointers;
	void *maps[3];

	check(fd >= 0, "a file");
	unlink(name);
	maps[0] = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
	maps[1] = mmap(NULL, size, PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
	maps[2] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	pointers = fill(malloc(8000), 8000);
	for (size_t i = 0; i < 1000; i++)
		pointers[i] = (char *)maps[i % 3] + i * 64;
	(void)fill(malloc(1000), 1000);
	expect(REACHABLE, 8000, 1);
	expect(DEFINITE, 1000, 1);
}

/* A mapping of the program's own, of which a half cannot be read. */
CASE mapping(void)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(pages != MAP_FAILED, "pages");
	check(mprotect(pages + PAGE, PAGE, PROT_NONE) == 0, "forbidding a page");
	*(void **)(void *)pages = fill(malloc(1337), 1337);
	expect(REACHABLE, 1337, 1);
}

NOINLINE static void suppressed_place__known(void)
{
	(void)fill(malloc(666), 666);
}

/* Two leaks, one of which a rule may name. */
CASE suppressed_place(void)
{
	suppressed_place__known();
	(void)fill(malloc(1337), 1337);
	expect(DEFINITE, 666 + 1337, 2);
}

/*
 * A pool: one block of the allocator, of which cells are handed out by functions that --hook can
 * name. To malloc() it is two blocks, whatever becomes of the cells.
 */
struct pool {
	char *room;
	size_t used;
};

__attribute__((noinline, used)) static void *pool_cell(struct pool *pool, size_t size)
{
	void *cell = pool->room + pool->used;

	pool->used += size;
	__asm__ volatile("" : "+r"(cell));
	return cell;
}

static void *volatile cells[100];

CASE pool_lost(void)
{
	struct pool *pool = fill(malloc(sizeof(*pool)), sizeof(*pool));

	*pool = (struct pool){.room = fill(malloc(PAGE), PAGE)};
	for (size_t i = 0; i < COUNT_OF(cells); i++)
		(void)pool_cell(pool, 16);
	expect(DEFINITE, sizeof(*pool), 1);
	expect(INDIRECT, PAGE, 1);
}

CASE pool_held_by_cells(void)
{
	struct pool *pool = fill(malloc(sizeof(*pool)), sizeof(*pool));

	*pool = (struct pool){.room = fill(malloc(PAGE), PAGE)};
	for (size_t i = 0; i < COUNT_OF(cells); i++)
		cells[i] = pool_cell(pool, 16);
	expect(DEFINITE, sizeof(*pool), 1);
	expect(REACHABLE, PAGE, 1);
}

static const struct suite_case cases[] = {
	{"chains", chains, 0},
	{"rings", rings, 0},
	{"tree", tree, 0},
	{"pointer_to_self", pointer_to_self, 0},
	{"many_small", many_small, 0},
	{"overwritten", overwritten, 0},
	{"twice_the_same_place", twice_the_same_place, 0},
	{"held_by_a_static", held_by_a_static, 0},
	{"no_bytes", no_bytes, 0},
	{"realloc_ways", realloc_ways, 0},
	{"large", large, 0},
	{"unaligned", unaligned, 0},
	{"integers", integers, 0},
	{"traps", traps, 0},
	{"mapping", mapping, 0},
	{"suppressed_place", suppressed_place, 0},
	{"pool_lost", pool_lost, 0},
	{"pool_held_by_cells", pool_held_by_cells, 0},
	{"unreadable", unreadable, 0},
};

int main(int argc, char **argv)
{
	return suite_main(cases, COUNT_OF(cases), argc, argv);
}
