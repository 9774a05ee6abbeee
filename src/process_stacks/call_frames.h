/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_CALL_FRAMES_H
#define WICK_PROCESS_STACKS_CALL_FRAMES_H

/* call_frames: frames of the calls that an interpreter reports. */

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct interpreter;
struct sink;

/* Whether the names of all calls are known. */
bool call_frames_are_known(const struct interpreter *interpreter, const uint64_t *words,
			   uint32_t count);

/* The frame of a call. False if it is to be left out: it is the interpreter's own. */
bool call_frame(const struct sink *sink, const struct interpreter *interpreter, uint64_t word,
		struct frame *ret);

#endif
