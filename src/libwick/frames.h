/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_FRAMES_H
#define WICK_LIBWICK_FRAMES_H

/* frames: the frames of a stack as the public library hands them out. */

#include <stdint.h>

#include <wick/profile.h>

#include "base/vec.h"

struct profile;

/* All zero is an empty one. */
struct frame_list {
	VEC(struct wick_profile_frame) items; /* the root first; texts belong to the profile */

	/* private */
	VEC(uint32_t) nodes;
};

/* Fills the list anew. 0 or -ENOMEM. */
int frame_list_fill(struct frame_list *list, const struct profile *profile, uint32_t stack);
void frame_list_fini(struct frame_list *list);

#endif
