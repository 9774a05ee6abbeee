/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_MERGE_STEP_H
#define WICK_RELAY_MERGE_STEP_H

/*
 * merge_step: takes some windows from one spool to another, merged into one. What cannot be merged
 * goes as it is. A window leaves the first spool when the second one has it on disk.
 */

#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct error;
struct spool;

/* Of a merged window, so that it keeps within the limits of a server. */
#define MERGE_PARTS_MAX 128u
#define MERGE_STORED_MAX (8u << 20)
#define MERGE_RAW_MAX (64u << 20)

struct merge_step {
	struct spool *from;
	struct delivery *to;
	const char *id; /* of the merged window */
	/* Results: */
	uint64_t merged; /* windows that became parts */
	uint64_t passed; /* those that went as they are */
	uint64_t bytes;  /* of the merged window */
};

/* Returns whether something was done, or a negative errno: then all windows stay where they are. */
int merge_step_run(struct merge_step *step, struct error *err);

#endif
