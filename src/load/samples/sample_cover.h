/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_COVER_H
#define WICK_LOAD_SAMPLES_SAMPLE_COVER_H

/*
 * sample_cover: the time that a sample tells of.
 *
 * A sample of a thread that was away from its CPU weighs as much as it was away: it covers that
 * time. Some engines tell of it when it comes back, others say when it left. Where samples are of
 * all time, those inside the program cover what is since the one before. All others tell of the
 * moment they were taken at.
 */

#include <stdbool.h>
#include <stdint.h>

enum sample_cover_side { SAMPLE_COVERS_NOTHING, SAMPLE_COVERS_BEFORE, SAMPLE_COVERS_AFTER };

/* Which side of its time a sample of that engine covers that tells of a thread which was away. */
enum sample_cover_side sample_cover_side_of(const char *engine);

struct sample_cover {
	uint64_t begin_ns; /* since the recording began; as end_ns: a moment */
	uint64_t end_ns;
	uint64_t weight;
};

/* A sample of that weight, with that time; side is where it covers what it weighs. */
struct sample_cover sample_cover_of(uint64_t since_ns, uint64_t weight,
				    enum sample_cover_side side);

/* Whether something of it is from from_ns on and before to_ns. */
bool sample_cover_meets(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns);

/*
 * What of its weight is there; 0 when nothing is. What a thread was away before the recording
 * began belongs to its first moment, so parts always come to the whole.
 */
uint64_t sample_cover_within(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns);

/* The part from from_ns on and before to_ns, of one that is there. */
struct sample_cover sample_cover_cut(const struct sample_cover *cover, uint64_t from_ns,
				     uint64_t to_ns);

#endif
