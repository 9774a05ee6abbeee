/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/cost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "engine/perf/event.h"
#include "engine/perf/ring.h"

/* Samples that are measured, and how far apart: enough for a median, over quickly. */
#define WANTED 48
#define PERIOD_NS (100 * NS_PER_US)
#define LIMIT_NS (20 * NS_PER_MS)
#define RING_BYTES (64u << 10)
#define DEEP_BYTES 49152u

/*
 * A loop of clock reads takes tens of nanoseconds a round; whatever took longer
 * than this was an interruption, and longer than the other, somebody else's.
 */
#define HOLE_MIN_NS 400u
#define HOLE_MAX_NS (50 * NS_PER_US)

/* A sample disturbs caches that the target then fills again: measured as +25 %. */
#define DISTURBANCE_NUM 5
#define DISTURBANCE_DEN 4

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Spins and notes the holes that are left in time. Returns how many. */
static size_t measure_holes(uint64_t *holes)
{
	uint64_t start_ns = clock_monotonic_ns();
	uint64_t last_ns = start_ns;
	size_t count = 0;

	while (count < WANTED && last_ns - start_ns < LIMIT_NS) {
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t hole_ns = now_ns - last_ns;

		if (hole_ns > HOLE_MIN_NS && hole_ns < HOLE_MAX_NS)
			holes[count++] = hole_ns;
		last_ns = now_ns;
	}
	return count;
}

/* The same with this much more on the stack: samples that copy it take longer. */
static __attribute__((noinline)) size_t measure_holes_deep(uint64_t *holes)
{
	volatile unsigned char deep[DEEP_BYTES];
	size_t i;

	for (i = 0; i < sizeof(deep); i += 1024)
		deep[i] = 1; /* pages that are not there are not copied */
	i = measure_holes(holes);
	return i + (deep[0] & 0u); /* keeps the array until the measuring is over */
}

/* Room for all samples: a full ring would make them cheaper. */
static size_t ring_bytes_for(const struct perf_event_attr *attr)
{
	size_t bytes = RING_BYTES;

	while (bytes < (attr->sample_stack_user + 1024ull) * WANTED)
		bytes *= 2;
	return bytes;
}

/* The median hole of a loop that is sampled like the target was, 0 when there are too few. */
static uint64_t median_hole_ns(const struct perf_event_attr *attr,
			       size_t (*measure)(uint64_t *holes))
{
	struct event_grant grant = {.attr = *attr, .kernel = !attr->exclude_kernel};
	uint64_t holes[WANTED];
	struct ring ring;
	size_t count = 0;
	int fd;

	grant.attr.sample_period = PERIOD_NS;
	grant.attr.inherit = 0;
	grant.attr.inherit_thread = 0;
	grant.attr.enable_on_exec = 0;
	fd = event_open(&grant, 0, -1, NULL);
	if (fd < 0)
		return 0;
	if (ring_map(&ring, fd, ring_bytes_for(attr)) == 0) {
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
			count = measure(holes);
		ring_unmap(&ring);
	}
	(void)close(fd); /* takes the event with it */
	if (count < WANTED / 4)
		return 0;
	qsort(holes, count, sizeof(holes[0]), compare);
	return holes[count / 2];
}

uint64_t perf_sample_cost_ns(const struct perf_event_attr *attr, uint64_t stack_bytes)
{
	uint64_t cost_ns;

	if (attr->type != PERF_TYPE_SOFTWARE || attr->freq)
		return 0;
	cost_ns = median_hole_ns(attr, measure_holes);
	if (attr->sample_stack_user && cost_ns > 0) {
		uint64_t deep_ns = median_hole_ns(attr, measure_holes_deep);

		if (deep_ns > cost_ns)
			cost_ns += (deep_ns - cost_ns) * stack_bytes / DEEP_BYTES;
	}
	return cost_ns * DISTURBANCE_NUM / DISTURBANCE_DEN;
}
