/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_KNOWN_STATES_H
#define WICK_LANGUAGE_PYTHON_KNOWN_STATES_H

/*
 * known_states: finds the thread of a sample by its variables, among thousands of threads.
 *
 * The sampled thread waits meanwhile, so states of threads are remembered: only those of new
 * threads, which are at the head of the interpreter's list, are read, and each word of the sample
 * is looked up once.
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct language_sample;
struct python_layout;
struct python_reader;

struct known_states {
	VEC(uint64_t) states; /* some have ended since */
	struct id_index index;
	uint32_t searches;
};

void known_states_fini(struct known_states *known);

/*
 * The thread id of the thread that a sample was taken of; 0: unknown. The loop has variables for
 * the state of its thread and for its frame. Another thread's state may be left on a stack, but not
 * together with the frame that is its innermost one now.
 */
uint64_t known_states_search(struct known_states *known, const struct python_layout *layout,
			     const struct python_reader *reader,
			     const struct language_sample *sample);

#endif
