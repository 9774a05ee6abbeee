/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * pool [THREADS] [CHILD]: has pools of its own, in memory of malloc(), and tells what each
 * function took of them. With CHILD a child does the same once more, and becomes /bin/true.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_BYTES (64u * 1024)
#define ROUNDS 1000u
#define THREADS_MAX 8

#define CALLED static __attribute__((noinline, noclone))

struct pool {
	char *chunk;
	size_t used;
	unsigned long chunks;
	unsigned long bad;
};

CALLED void *pool_get(struct pool *pool, size_t size)
{
	char *block;

	if (!pool->chunk || pool->used + size > CHUNK_BYTES) {
		pool->chunk = malloc(CHUNK_BYTES); /* what was there before stays: it is in use */
		if (!pool->chunk)
			abort();
		pool->used = 0;
		pool->chunks++;
	}
	block = pool->chunk + pool->used;
	pool->used += (size + 15) & ~(size_t)15;
	block[0] = 'u';
	return block;
}

CALLED void pool_put(struct pool *pool, char *block)
{
	pool->bad += block[0] != 'u';
	block[0] = 'f';
}

/* Hooked as well: calls of pool_get() from here are not counted again. */
CALLED void *box_get(size_t size, struct pool *pool)
{
	uint32_t *box = pool_get(pool, size + 16);

	box[1] = (uint32_t)size;
	return box;
}

CALLED void box_put(char *box, struct pool *pool)
{
	pool_put(pool, box);
}

/* More arguments than any CPU has registers for. */
CALLED void *array_get(size_t count, size_t size, struct pool *pool, long a, long b, long c, long d,
		       long e, long f, long g)
{
	pool->bad += a != 1 || b != 2 || c != 3 || d != 4 || e != 5 || f != 6 || g != 7;
	return pool_get(pool, count * size);
}

/* Its first instruction is about a place: it cannot be hooked. */
static char room[16 * ROUNDS];
static size_t room_used;

CALLED void *room_get(size_t size)
{
	char *block = room + room_used;

	room_used = (room_used + size) % sizeof(room);
	return block;
}

/* Compilers do not pass on what they know to be always the same. */
static volatile size_t box_bytes = 32, array_count = 3, element_bytes = 8;

/* Values that are kept in registers over calls: which ones are free, compilers know. */
CALLED unsigned long take_blocks(struct pool *pool, unsigned long seed)
{
	unsigned long a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11,
		      f = seed * 13;

	for (unsigned long i = 0; i < ROUNDS; i++) {
		char *block = pool_get(pool, i % 100 + 1);

		a += b ^ i;
		b += c + a;
		c ^= d * 31;
		d += e ^ c;
		e += f + i;
		f ^= a + d;
		if (i % 4)
			pool_put(pool, block);
	}
	return a ^ b ^ c ^ d ^ e ^ f;
}

CALLED void take_boxes(struct pool *pool)
{
	for (unsigned long i = 0; i < ROUNDS; i++)
		box_put(box_get(box_bytes, pool), pool);
}

CALLED void take_arrays(struct pool *pool)
{
	for (unsigned long i = 0; i < ROUNDS; i++)
		pool_put(pool, array_get(array_count, element_bytes, pool, 1, 2, 3, 4, 5, 6, 7));
}

CALLED void take_room(void)
{
	for (unsigned long i = 0; i < ROUNDS; i++)
		*(volatile char *)room_get(16) = 'r';
}

static void *work(void *argument)
{
	struct pool *pool = argument;
	unsigned long sum = take_blocks(pool, 12345);

	take_boxes(pool);
	take_arrays(pool);
	return (void *)(uintptr_t)sum;
}

static void run_threads(struct pool *pools, unsigned long count)
{
	pthread_t threads[THREADS_MAX];

	for (unsigned long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, &pools[i]) != 0)
			abort();
	for (unsigned long i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
}

static void run_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		struct pool pool = {0};

		(void)work(&pool);
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	(void)waitpid(child, NULL, 0);
}

/* Of one round of work: 1 + 2 + … + 100, ten times; one of four blocks stays. */
static unsigned long live_bytes(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < ROUNDS; i += 4)
		sum += i % 100 + 1;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct pool pools[THREADS_MAX + 1] = {0};
	unsigned long bad = 0, chunks = 0, times, sum;

	if (threads > THREADS_MAX)
		return 2;
	sum = (unsigned long)(uintptr_t)work(&pools[THREADS_MAX]);
	run_threads(pools, threads);
	take_room();
	if (argc > 2)
		run_child();
	for (size_t i = 0; i < THREADS_MAX + 1; i++) {
		bad += pools[i].bad;
		chunks += pools[i].chunks;
	}
	times = threads + 1 + (argc > 2);
	printf("{\"sum\": %lu, \"bad\": %lu, \"chunks\": %lu", sum, bad, chunks);
	printf(", \"take_blocks\": {\"blocks\": %lu, \"bytes\": %lu, \"live\": %lu}",
	       times * ROUNDS, times * ROUNDS / 100 * 5050, times * live_bytes());
	printf(", \"take_boxes\": {\"blocks\": %lu, \"bytes\": %lu, \"live\": 0}", times * ROUNDS,
	       times * ROUNDS * 32);
	printf(", \"take_arrays\": {\"blocks\": %lu, \"bytes\": %lu, \"live\": 0}}\n",
	       times * ROUNDS, times * ROUNDS * 24);
	return bad != 0;
}
