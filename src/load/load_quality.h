/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_QUALITY_H
#define WICK_LOAD_LOAD_QUALITY_H

/* load_quality: counts what is worth knowing about the stacks of a profile. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_gap;

/* How well an address is known. */
struct load_judged {
	uint8_t quality; /* enum symbol_quality */
	uint32_t module; /* MODULE_NONE: in none */
	uint32_t frame;  /* of the recording, that it came from first */
};

/* All are borrowed. */
struct load_quality {
	struct profile *profile;          /* whose counts are added to */
	const struct load_judged *judged; /* by location */
	struct profile_gap *gaps;         /* by module, and one more for addresses in none */
	size_t gap_count;
	bool may_be_cut;        /* some stacks before their root: only then all are looked at */
	bool by_frame_pointers; /* they do not say where they were cut: see known_root.h */
};

/* Adds samples of a stack. */
void load_quality_add(const struct load_quality *quality, uint32_t stack, uint64_t count);

#endif
