/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LEVEL_TRACK_H
#define WICK_MODEL_LEVEL_TRACK_H

/*
 * level_track: a level over time: the live part of a heap, the memory of a process, a gauge. Levels
 * are never added up.
 *
 * A level applies until the next one. Their number is not known in advance: beyond a limit, times
 * get coarser, and of the levels in one interval the last and the highest are kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define LEVEL_TRACK_POINTS 8192u

enum level_kind {
	LEVEL_HEAP,     /* bytes in live blocks: the highest counts */
	LEVEL_RESIDENT, /* bytes of a process: likewise */
	LEVEL_GAUGE,    /* reported by a program: the last counts */
};

struct level_point {
	uint64_t since_ns; /* in this order; since the start of the analysed time */
	int64_t last;
	int64_t most;
};

/* An empty track is all zeros. Texts are ids of the profile's strings. */
struct level_track {
	enum level_kind kind;
	uint32_t name;
	uint32_t unit;
	uint32_t process_comm; /* 0 and the next 0: all processes */
	uint32_t pid;
	VEC(struct level_point) points;

	/* while levels are added */
	uint32_t event;      /* of a gauge, by the recording */
	uint32_t process;    /* likewise */
	uint64_t stretch_ns; /* 0: all levels are kept */
};

void level_track_fini(struct level_track *track);

/* Adds a level, in any order. 0 or -ENOMEM. */
int level_track_add(struct level_track *track, struct level_point point);

/* Call it after adding all levels: sorts them. */
void level_track_finish(struct level_track *track);

/* The level in a step: the highest in it, or for gauges the one at its end. */
struct level_step {
	int64_t level;
	bool known; /* false before the first */
};

/* Fills count steps, the first beginning at begin_ns. */
void level_track_fold(const struct level_track *track, uint64_t begin_ns, uint64_t step_ns,
		      struct level_step *steps, size_t count);

#endif
