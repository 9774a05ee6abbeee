/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/sample_cost.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "engine/interruption_cost.h"
#include "engine/perf/event.h"
#include "engine/perf/ring.h"

#define RING_BYTES (64u << 10)
#define DEEP_BYTES 49152u

/* A sample evicts cache lines that the target then has to reload: measured as +25 %. */
#define DISTURBANCE_NUM 5
#define DISTURBANCE_DEN 4

/* With this many extra bytes on the stack, because samples that copy it take longer. */
static __attribute__((noinline)) size_t measure_deep(uint64_t *holes)
{
	volatile unsigned char deep[DEEP_BYTES];
	size_t i;

	for (i = 0; i < sizeof(deep); i += 1024)
		deep[i] = 1; /* pages that were never touched are not copied */
	i = interruption_cost_measure(holes);
	return i + (deep[0] & 0u); /* keeps the array alive until the measurement is over */
}

/* Room for all samples: a full ring would make them cheaper. */
static size_t ring_bytes_for(const struct perf_event_attr *attr)
{
	size_t bytes = RING_BYTES;

	while (bytes < (attr->sample_stack_user + 1024ull) * HOLES_WANTED)
		bytes *= 2;
	return bytes;
}

/* The median gap in a loop that is sampled like the target; 0 if there are too few gaps. */
static uint64_t median_hole_ns(const struct perf_event_attr *attr,
			       size_t (*measure)(uint64_t *holes))
{
	struct event_grant grant = {.attr = *attr, .kernel = !attr->exclude_kernel};
	uint64_t holes[HOLES_WANTED];
	struct ring ring;
	size_t count = 0;
	int fd;

	grant.attr.sample_period = HOLES_PERIOD_NS;
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
	(void)close(fd); /* closes the event too */
	return interruption_cost_median_ns(holes, count);
}

uint64_t perf_sample_cost_ns(const struct perf_event_attr *attr, uint64_t stack_bytes)
{
	uint64_t cost_ns;

	if (attr->type != PERF_TYPE_SOFTWARE || attr->freq)
		return 0;
	cost_ns = median_hole_ns(attr, interruption_cost_measure);
	if (attr->sample_stack_user && cost_ns > 0) {
		uint64_t deep_ns = median_hole_ns(attr, measure_deep);

		if (deep_ns > cost_ns)
			cost_ns += (deep_ns - cost_ns) * stack_bytes / DEEP_BYTES;
	}
	return cost_ns * DISTURBANCE_NUM / DISTURBANCE_DEN;
}
