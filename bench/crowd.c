/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * crowd THREADS FRAMES UNITS: threads that do a fixed amount of work at the end of FRAMES
 * calls, for being built without frame pointers. They have different shares: the first does
 * UNITS of about 0.1 ms, the next 2 * UNITS, then 3, 4, and 1 again. Each has a leaf function of
 * its own, so that whoever sees nothing but leaves can tell threads apart. Prints the CPU time of
 * all, and of each thread by its own clock.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

#define THREADS_MOST 64
#define STEPS 40000u

struct worker {
	uint64_t units;
	uint64_t random; /* the unit's: chooses its stack */
	uint64_t sum;
	uint64_t cpu_ns;
	int index;
	int frames;
	pid_t tid;
};

typedef void (*burner)(struct worker *worker);

#define BURN(n)                                                                                    \
	static NOINLINE void burn_##n(struct worker *worker)                                       \
	{                                                                                          \
		uint64_t x = worker->sum + (n);                                                    \
                                                                                                   \
		for (uint32_t i = 0; i < STEPS; i++) {                                             \
			x = x * UINT64_C(6364136223846793005) + 1;                                 \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
		worker->sum = x;                                                                   \
	}
#define TEN(use, n)                                                                                \
	use(n##0) use(n##1) use(n##2) use(n##3) use(n##4) use(n##5) use(n##6) use(n##7) use(n##8)  \
		use(n##9)
#define SIXTY_FOUR(use)                                                                            \
	TEN(use, 1)                                                                                \
	TEN(use, 2) TEN(use, 3) TEN(use, 4) TEN(use, 5) TEN(use, 6) use(70) use(71) use(72) use(73)

SIXTY_FOUR(BURN)

#define NAME(n) burn_##n,
static const burner burners[THREADS_MOST] = {SIXTY_FOUR(NAME)};

static void descend(struct worker *worker, int left);

#define LEVEL(n)                                                                                   \
	static NOINLINE void level_##n(struct worker *worker, int left)                            \
	{                                                                                          \
		volatile uint64_t room[(n) + 1];                                                   \
                                                                                                   \
		room[0] = (uint64_t)left;                                                          \
		descend(worker, left - 1);                                                         \
		worker->sum += room[0]; /* keeps the call from becoming a jump */                  \
	}

LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)

static void (*const levels[4])(struct worker *worker, int left) = {level_0, level_1, level_2,
								   level_3};

/* The nearer to the leaf, the more often another way is taken. */
static NOINLINE void descend(struct worker *worker, int left)
{
	uint64_t way = (worker->random >> left % 60) * UINT64_C(0x9e3779b97f4a7c15) >> 62;

	if (left <= 1)
		burners[worker->index](worker);
	else
		levels[way](worker, left - 1);
	worker->sum++;
}

static void *run(void *self)
{
	struct worker *worker = self;
	struct timespec now;

	worker->tid = (pid_t)syscall(SYS_gettid);
	for (uint64_t unit = 0; unit < worker->units; unit++) {
		worker->random = unit * UINT64_C(0x9e3779b97f4a7c15);
		descend(worker, worker->frames);
	}
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		abort();
	worker->cpu_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? (int)strtoul(argv[1], NULL, 10) : 1;
	int frames = argc > 2 ? (int)strtoul(argv[2], NULL, 10) : 30;
	uint64_t units = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
	static struct worker workers[THREADS_MOST];
	static pthread_t ids[THREADS_MOST];
	struct rusage usage;

	if (threads < 1 || threads > THREADS_MOST || frames < 1)
		return 2;
	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker){
			.units = units * (uint64_t)(i % 4 + 1), .index = i, .frames = frames};
		if (pthread_create(&ids[i], NULL, run, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < threads; i++)
		(void)pthread_join(ids[i], NULL); /* it was started */
	(void)getrusage(RUSAGE_SELF, &usage);     /* cannot fail */
	printf("{\"cpu_us\": %" PRId64 ", \"threads\": [",
	       (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	for (int i = 0; i < threads; i++)
		printf("%s[%d, %" PRIu64 "]", i > 0 ? ", " : "", (int)workers[i].tid,
		       workers[i].cpu_ns);
	printf("]}\n");
	return 0;
}
