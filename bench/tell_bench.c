/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls of include/wick/wick.h take when nobody records: nanoseconds a call, less
 * those of the loop around it. Under a recorder the same of calls that are recorded.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <wick/wick.h>

#define ROUNDS 9

typedef void call_fn(uint64_t times);

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The compiler must not see that a loop does nothing. */
#define LOOP(name, call)                                                                           \
	static void name(uint64_t times)                                                           \
	{                                                                                          \
		for (uint64_t i = 0; i < times; i++) {                                             \
			__asm__ volatile("" ::: "memory");                                         \
			call;                                                                      \
		}                                                                                  \
	}

LOOP(nothing, (void)0)
LOOP(event, wick_event("event", i))
LOOP(count, wick_count("count", i))
LOOP(gauge, wick_gauge("gauge", (int64_t)i))
LOOP(label, wick_label("key", "value"))
LOOP(part, (wick_profile_begin("part"), wick_profile_end()))

static double best_ns(call_fn *call, uint64_t times)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = now_ns();
		double took_ns;

		call(times);
		took_ns = (double)(now_ns() - begin_ns) / (double)times;
		if (took_ns < best)
			best = took_ns;
	}
	return best;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		call_fn *call;
	} calls[] = {{"event", event},
		     {"count", count},
		     {"gauge", gauge},
		     {"label", label},
		     {"part", part}};
	uint64_t times = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	double loop_ns = best_ns(nothing, times);

	printf("{\"recorded\": %d", wick_is_recorded());
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		printf(", \"%s\": %.2f", calls[i].name, best_ns(calls[i].call, times) - loop_ns);
	printf("}\n");
	return 0;
}
