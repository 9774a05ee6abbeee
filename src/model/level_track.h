/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LEVEL_TRACK_H
#define WICK_MODEL_LEVEL_TRACK_H

/*
 * level_track: how high something was over time: what is live of a heap, the memory of a process,
 * a gauge. Levels are never added up.
 *
 * A level holds until another is told. How many will come is not known: beyond a limit times get
 * coarser, and of the levels in one stretch of time the last and the highest stay.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define LEVEL_TRACK_POINTS 8192u

enum level_kind {
	LEVEL_HEAP,     /* bytes in live blocks: what counts is the highest */
	LEVEL_RESIDENT, /* bytes of a process: the highest too */
	LEVEL_GAUGE,    /* what a program told: the last */
};

struct level_point {
	uint64_t since_ns; /* in order of these; since the start of what is looked at */
	int64_t last;
	int64_t most;
};

/* All zero is an empty one. Texts are ids of the profile's strings. */
struct level_track {
	enum level_kind kind;
	uint32_t name;
	uint32_t unit;
	uint32_t process_comm; /* 0 and the next 0: of all processes */
	uint32_t pid;
	VEC(struct level_point) points;

	/* while they come */
	uint32_t event;      /* of a gauge, by the recording */
	uint32_t process;    /* the same */
	uint64_t stretch_ns; /* 0: all are kept */
};

void level_track_fini(struct level_track *track);

/* Adds a level; they need not come in order. 0 or -ENOMEM. */
int level_track_add(struct level_track *track, struct level_point point);

/* To be called when all have come: puts them in order. */
void level_track_finish(struct level_track *track);

/* The level in a step: the highest in it, or for gauges the one at its end. */
struct level_step {
	int64_t level;
	bool known; /* false before the first */
};

/* Fills count steps, the first of which begins at begin_ns. */
void level_track_fold(const struct level_track *track, uint64_t begin_ns, uint64_t step_ns,
		      struct level_step *steps, size_t count);

#endif
