/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_KNOWN_WALKS_H
#define WICK_PYTHON_KNOWN_WALKS_H

/*
 * known_walks: recognises the frames of a stack without walking it. A program allocates at the same
 * places again and again, with the same frames below.
 *
 * The unwind rules of a return address say where in its frame the next one is stored. So if a walk
 * begins at the same place of the stack, and all places where return addresses were found hold the
 * same values, it would find the same frames. They are compared from the innermost on: as long as
 * they are the same, the next place belongs to a frame that exists.
 *
 * Threads: any. Nothing is waited for: an entry that somebody writes is not used.
 */

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_WALK_FRAMES 28

/* A frame as the unwinder finds it. */
struct known_frame {
	uint64_t address; /* where it will go on */
	uint64_t sp;      /* its lowest address */
};

/* Sets *ret_count and addresses of a known walk, without its first frame. Returns whether it is. */
bool known_walks_find(uint64_t sp, uint64_t hint, uint64_t *ret_addresses, uint32_t *ret_count);

/*
 * Remembers a walk. Its first frame begins at `sp`, and `hint` is different for each address that
 * it may have. Walks that are too deep are not kept.
 */
void known_walks_add(uint64_t sp, uint64_t hint, const struct known_frame *frames, uint32_t count);

/* Modules were unloaded: the same addresses may be other code. */
void known_walks_forget(void);

#endif
