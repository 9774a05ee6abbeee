/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLE_COVER_H
#define WICK_LOAD_SAMPLES_SAMPLE_COVER_H

/*
 * sample_cover: the time range that a sample covers.
 *
 * A sample of a thread that was off its CPU weighs as much as the time it was off, and covers that
 * time. Some engines report it when the thread comes back, others give the time when it left. In
 * wall-clock mode, samples taken inside the program cover the time since the previous one. All
 * other samples cover the moment they were taken at.
 */

#include <stdbool.h>
#include <stdint.h>

enum sample_cover_side { SAMPLE_COVERS_NOTHING, SAMPLE_COVERS_BEFORE, SAMPLE_COVERS_AFTER };

/* Whether samples of off-CPU threads cover the time before or after their own, for an engine. */
enum sample_cover_side sample_cover_side_of(const char *engine);

struct sample_cover {
	uint64_t begin_ns; /* since the recording began; equal to end_ns: a moment */
	uint64_t end_ns;
	uint64_t weight;
};

/* What a sample with this time and weight covers; `side` says whether before or after its time. */
struct sample_cover sample_cover_of(uint64_t since_ns, uint64_t weight,
				    enum sample_cover_side side);

/* Whether it overlaps [from_ns, to_ns). */
bool sample_cover_meets(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns);

/*
 * The part of its weight in [from_ns, to_ns); 0 if there is no overlap. Time off the CPU before the
 * recording began belongs to its first moment, so the parts always add up to the whole.
 */
uint64_t sample_cover_within(const struct sample_cover *cover, uint64_t from_ns, uint64_t to_ns);

/* The part in [from_ns, to_ns); it must overlap. */
struct sample_cover sample_cover_cut(const struct sample_cover *cover, uint64_t from_ns,
				     uint64_t to_ns);

#endif
