/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_LEVELS_H
#define WICK_LOAD_SAMPLES_SAMPLE_LEVELS_H

/*
 * sample_levels: levels over time in a recording: gauges of processes, and their memory. Ids are
 * those of the recording.
 */

#include <stdint.h>

#include "base/vec.h"
#include "model/level_track.h"

/* Empty when zeroed. */
struct sample_levels {
	VEC(struct level_track) tracks;
};

void sample_levels_fini(struct sample_levels *levels);

/* Adds a level of an event (0 if the kind has none) of a process. Returns 0 or -ENOMEM. */
int sample_levels_add(struct sample_levels *levels, enum level_kind kind, uint32_t event,
		      uint32_t process, struct level_point point);

#endif
