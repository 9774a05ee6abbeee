/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_GAUGES_H
#define WICK_LOAD_SAMPLES_SAMPLE_GAUGES_H

/*
 * sample_gauges: levels that processes reported, such as the length of a queue. They are never
 * summed: for each the last, lowest, highest and mean value is kept.
 */

#include <stdint.h>

#include "base/vec.h"

/* One event of one process. */
struct sample_gauge {
	uint32_t event; /* of sample_events */
	uint32_t process;
	uint64_t times;
	int64_t last;
	int64_t lowest;
	int64_t highest;
	double sum;       /* for the mean */
	uint64_t last_ns; /* time of the last one: they may arrive out of order */
};

struct sample_gauges {
	VEC(struct sample_gauge) items;
};

/* Adds a level. Uses event, process, last and last_ns of `told`. Returns 0 or -ENOMEM. */
int sample_gauges_add(struct sample_gauges *gauges, const struct sample_gauge *told);
void sample_gauges_fini(struct sample_gauges *gauges);

#endif
