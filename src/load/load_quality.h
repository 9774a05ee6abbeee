/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_QUALITY_H
#define WICK_LOAD_LOAD_QUALITY_H

/*
 * load_quality: counts how complete the stacks of a profile are, and how well they are symbolised.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_gap;

/* How well an address was symbolised. */
struct load_judged {
	uint8_t quality; /* enum symbol_quality */
	uint32_t module; /* MODULE_NONE: in no module */
	uint32_t frame;  /* frame of the recording that it first came from */
};

/* All pointers are borrowed. */
struct load_quality {
	struct profile *profile;          /* whose counts are updated */
	const struct load_judged *judged; /* by location */
	struct profile_gap *gaps;         /* by module, plus one for addresses in no module */
	size_t gap_count;
	bool may_be_cut; /* some stacks may be cut before their root: only then all are checked */
	bool by_frame_pointers; /* stacks come from frame pointers and do not say where they were
				   cut: see known_root.h */
};

/* Counts samples of a stack. */
void load_quality_add(const struct load_quality *quality, uint32_t stack, uint64_t count);

#endif
