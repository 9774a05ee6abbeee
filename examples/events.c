/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that reports its own events. It needs no library:
 *
 *	cc events.c -o events
 *	wick record --engine signal -o events.wick -- ./events
 *	wick report events.wick                  a column for each event
 *	wick report events.wick --event query    by the time of queries
 *	wick timeline events.wick                threads and gauges over time
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <wick/wick.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned int work(unsigned int rounds)
{
	volatile unsigned int sum = 0;

	for (unsigned int i = 0; i < rounds * 1000; i++)
		sum += i * i;
	return sum;
}

/* What a query to a database would be. */
static void query(unsigned int rounds)
{
	uint64_t begin_ns = now_ns();

	(void)work(rounds);
	wick_event("query", now_ns() - begin_ns);
}

static void answer(unsigned int request)
{
	wick_label("tenant", request % 3 == 0 ? "large" : "small");
	wick_gauge("waiting", 300 - (int64_t)request);
	wick_profile_begin("answer");
	query(request % 3 == 0 ? 400 : 100);
	wick_count("rows", request % 3 == 0 ? 40 : 10);
	wick_profile_end();
}

int main(void)
{
	for (unsigned int request = 0; request < 300; request++)
		answer(request);
	printf("%s\n", wick_is_recorded() ? "recorded" : "not recorded");
	return 0;
}
