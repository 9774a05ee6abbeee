/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_FRAMES_H
#define WICK_LIBWICK_FRAMES_H

/* frames: converts the frames of a stack for the public library. */

#include <stdint.h>

#include <wick/profile.h>

#include "base/vec.h"

struct profile;

/* Empty when zeroed. */
struct frame_list {
	VEC(struct wick_profile_frame) items; /* root first; texts are owned by the profile */

	/* private */
	VEC(uint32_t) nodes;
};

/* Refills the list. Returns 0 or -ENOMEM. */
int frame_list_fill(struct frame_list *list, const struct profile *profile, uint32_t stack);
void frame_list_fini(struct frame_list *list);

#endif
