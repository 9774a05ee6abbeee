/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_LEVELS_H
#define WICK_LOAD_SAMPLES_SAMPLE_LEVELS_H

/*
 * sample_levels: what a recording tells of levels over time: gauges of processes, and their
 * memory. Ids are those of the recording.
 */

#include <stdint.h>

#include "base/vec.h"
#include "model/level_track.h"

/* All zero is an empty one. */
struct sample_levels {
	VEC(struct level_track) tracks;
};

void sample_levels_fini(struct sample_levels *levels);

/* Adds a level of an event (0 where the kind has none) of a process. 0 or -ENOMEM. */
int sample_levels_add(struct sample_levels *levels, enum level_kind kind, uint32_t event,
		      uint32_t process, struct level_point point);

#endif
