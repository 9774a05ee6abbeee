/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory in ways that are hard on whoever records it. Says as JSON what it did.
 *
 * strain crowd N M	N threads at a time, each with M blocks on 64 ways
 * strain damage WAY	writes over the recorder's tables again and again: all of them (all), a
 *			word of each entry (some), or zeros (none), and uses memory in between
 * strain ring WAY	the same of what the thread shares with the recorder: where its ring
 *			begins (head), ends (tail), whose it is (state), or all of that (zero)
 * strain brk		blocks by sbrk() and brk()
 * strain deepbind FILE	opens a library with RTLD_DEEPBIND
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"
#include "wire/session.h"

#define TABLES_BYTES (768ul << 10) /* those of a thread are larger, all else of it is not */
#define GUARD_BYTES 65536ul

static pthread_barrier_t all_there;
static long blocks;

static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

/* A way for each bit pattern. */
static NOINLINE void *left(long way, int level);
static NOINLINE void *right(long way, int level);

static void *go_on(long way, int level)
{
	if (level == 0)
		return hide(malloc(100));
	return hide(way & 1 ? left(way / 2, level - 1) : right(way / 2, level - 1));
}

static NOINLINE void *left(long way, int level)
{
	return hide(go_on(way, level));
}

static NOINLINE void *right(long way, int level)
{
	return hide(go_on(way, level));
}

static void *use(void *argument)
{
	(void)pthread_barrier_wait(&all_there);
	for (long i = 0; i < blocks; i++)
		free(left(i, 6));
	(void)pthread_barrier_wait(&all_there);
	return argument;
}

static int crowd(int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));

	if (!threads || pthread_barrier_init(&all_there, NULL, (unsigned int)count) != 0)
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, use, NULL) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	free(threads);
	printf("{\"blocks\": %ld}\n", count * blocks);
	return 0;
}

/* Memory between pages that cannot be touched, of the size of the recorder's tables. */
static uint64_t *find_tables(size_t *ret_words)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long last_end = 0;
	unsigned long last_closed = 0;
	unsigned long begin;
	unsigned long end;
	char rights[5];
	char line[512];
	uint64_t *found = NULL;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3)
			continue;
		if (strcmp(rights, "rw-p") == 0 && begin == last_end &&
		    last_closed >= GUARD_BYTES && end - begin >= TABLES_BYTES &&
		    end - begin < 2 * TABLES_BYTES) {
			found = (uint64_t *)begin;
			*ret_words = (end - begin) / sizeof(uint64_t);
		}
		last_closed = strcmp(rights, "---p") == 0 ? end - begin : 0;
		last_end = end;
	}
	if (maps)
		(void)fclose(maps);
	return found;
}

/* What a program does that writes where it should not, where it does most harm. */
static int damage(const char *way)
{
	size_t words = 0;
	uint64_t *tables;
	long used = 0;

	for (long i = 0; i < 64; i++)
		free(left(i, 6));
	tables = find_tables(&words);
	for (int round = 0; round < 100 && tables; round++) {
		for (size_t i = 0; i < words; i++)
			if (strcmp(way, "all") == 0)
				tables[i] = (i + (size_t)round) * 0x9e3779b97f4a7c15u;
			else if (strcmp(way, "none") == 0)
				tables[i] = 0;
			else if (i > 2048 && (i + (size_t)round) % 2 == 1)
				tables[i] ^= 0x7000004070000040;
		for (long i = 0; i < 64; i++, used++)
			free(left(i, 6));
	}
	printf("{\"found\": %s, \"blocks\": %ld}\n", tables ? "true" : "false", used);
	return 0;
}

/* The file that the recorder reads, as this program has it mapped. */
static struct session_process *find_file(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin;
	char rights[5];
	char line[512];
	struct session_process *found = NULL;

	while (maps && !found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%*x %4s", &begin, rights) == 2 &&
		    strcmp(rights, "rw-s") == 0 && strstr(line, SESSION_FOLDER))
			found = (struct session_process *)begin;
	if (maps)
		(void)fclose(maps);
	return found;
}

static void spoil(struct session_slot *slot, const char *way, uint64_t value)
{
	if (strcmp(way, "head") == 0)
		slot->head = value;
	else if (strcmp(way, "tail") == 0)
		slot->tail = value;
	else if (strcmp(way, "state") == 0)
		slot->state = SESSION_SLOT_FREE;
	else if (strcmp(way, "zero") == 0)
		memset(slot, 0, sizeof(*slot));
}

/* All that a ring has room for, several times over, after each time. */
static int spoil_ring(const char *way)
{
	struct session_process *file = find_file();
	long used = 0;

	for (uint64_t round = 0; round < 6 && file; round++) {
		for (long i = 0; i < 30000; i++, used++) {
			if (i == 1000)
				spoil((struct session_slot *)((char *)file + file->slots_offset),
				      way, (round + 1) * 0x9e3779b97f4a7c15u);
			free(left(i, 6));
		}
	}
	printf("{\"found\": %s, \"blocks\": %ld}\n", file ? "true" : "false", used);
	return 0;
}

static NOINLINE char *by_sbrk(void)
{
	return sbrk(100000);
}

static NOINLINE int by_brk(char *end)
{
	return brk(end);
}

static int breaks(void)
{
	char *begin = by_sbrk();
	int r = by_brk(begin + 300000);

	memset(begin, 1, 300000);
	r += brk(begin + 250000);
	(void)sbrk(-100000);
	free(hide(malloc(100000))); /* the C library has its break, which is not told */
	(void)brk(NULL);            /* a question */
	printf("{\"failed\": %d}\n", r);
	return r;
}

static int deepbind(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);

	printf("{\"opened\": %s}\n", library ? "true" : "false");
	return library == NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	blocks = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	if (argc > 2 && strcmp(way, "crowd") == 0)
		return crowd((int)strtol(argv[2], NULL, 10));
	if (argc > 2 && strcmp(way, "damage") == 0)
		return damage(argv[2]);
	if (argc > 2 && strcmp(way, "ring") == 0)
		return spoil_ring(argv[2]);
	if (argc > 2 && strcmp(way, "deepbind") == 0)
		return deepbind(argv[2]);
	return breaks();
}
