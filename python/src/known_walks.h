/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_KNOWN_WALKS_H
#define WICK_PYTHON_KNOWN_WALKS_H

/*
 * known_walks: recognises the frames of a stack without unwinding it. A program allocates in the
 * same places again and again, with the same callers.
 *
 * The unwind rules for a return address say where in the frame the next one is stored. So if a walk
 * starts at the same stack address, and all places where return addresses were found still hold the
 * same values, it would find the same frames. They are compared starting with the innermost: as
 * long as they are equal, the next place belongs to a frame that exists.
 *
 * Threads: any. No function waits: an entry that another thread is writing is not used.
 */

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_WALK_FRAMES 28

/* A frame as the unwinder finds it. */
struct known_frame {
	uint64_t address; /* where it continues */
	uint64_t sp;      /* its lowest address */
};

/* Returns whether the walk is known; ret_addresses are then its frames without the first. */
bool known_walks_find(uint64_t sp, uint64_t hint, uint64_t *ret_addresses, uint32_t *ret_count);

/*
 * Adds a walk. Its first frame starts at `sp`, and `hint` differs for each address that the first
 * frame may have. Walks that are too deep are not kept.
 */
void known_walks_add(uint64_t sp, uint64_t hint, const struct known_frame *frames, uint32_t count);

/* Call it when modules were unloaded: the same addresses may now be other code. */
void known_walks_forget(void);

#endif
