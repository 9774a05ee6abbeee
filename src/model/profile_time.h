/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_PROFILE_TIME_H
#define WICK_MODEL_PROFILE_TIME_H

/*
 * profile_time: a profile by time: what stacks cost in each slice, which blocks were live from when
 * to when, and how high levels were. All slices are equally long; 0 is the first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/level_track.h"

/* Whether a thread in that state is not on a CPU; false when unknown. */
bool profile_state_is_away(const char *state);

/* What a stack cost in a slice of time. */
struct profile_moment {
	uint32_t slice;
	uint32_t stack;
	int64_t values[2]; /* of the first value types */
	uint32_t thread;
	uint32_t state;   /* like that of profile_entry */
	int64_t going_on; /* samples of a later slice that cover this one as well */
};

/* Blocks of a stack that were allocated in one slice and freed in one. */
struct profile_blocks {
	uint32_t stack;
	uint32_t thread;
	uint32_t born; /* slices */
	uint32_t died; /* PROFILE_BLOCKS_LIVE: they were not freed */
	int64_t bytes;
	int64_t blocks;
	int64_t temporary; /* of the blocks */
	bool is_pool;      /* inside other blocks: never add these up with them */
};

#define PROFILE_BLOCKS_LIVE UINT32_MAX

/* One sample, or the total of one that represents several. */
struct profile_sample {
	uint64_t since_ns; /* start of the time it covers, from the start of the recording */
	int64_t value;     /* of one value type: */
	uint32_t type;     /* its index */
	uint32_t stack;
	uint32_t thread;
};

/* Each is filled on request. */
struct profile_time {
	VEC(struct profile_blocks) blocks;
	VEC(struct level_track) tracks;
	VEC(struct profile_sample) samples; /* in time order */
	VEC(int64_t) longest;               /* by set of labels: the largest single sample */
	uint32_t heap_value; /* the first value type of the heap; ID_NONE without one */
};

struct profile;

/* Records a single sample with a set of labels, in the main value. 0 or -ENOMEM. */
int profile_note_longest(struct profile *profile, uint32_t labels, int64_t value);

#endif
