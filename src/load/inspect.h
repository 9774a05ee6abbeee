/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_INSPECT_H
#define WICK_LOAD_INSPECT_H

/*
 * inspect: reports what is in a recording, and whether it can be trusted.
 *
 * Reads a file from start to end and keeps only counts and the dictionary.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/sink.h"
#include "recording/reader.h"

struct error;

struct inspect_fact {
	char *key;
	char *value;
};

struct inspection {
	struct recording_reader *reader; /* owns the dictionary */
	unsigned int major;
	unsigned int minor;
	struct recording_damage damage;
	VEC(struct inspect_fact) facts; /* one for each key, in order of appearance */
	uint64_t *module_samples;       /* by module id: samples that end in it */
	uint64_t module_count;

	uint64_t samples;        /* a record may represent many; at most INT64_MAX */
	VEC(uint8_t) stack_seen; /* by stack id */
	uint64_t unique_stacks;
	uint64_t weight; /* at most INT64_MAX */
	uint64_t period;
	uint64_t lost_by[LOSS_REASONS];
	uint64_t maps;
	uint64_t kernel_symbols;
	uint64_t first_ns; /* of the samples */
	uint64_t last_ns;
	uint64_t start_ns; /* of the recording */
	uint64_t end_ns;
	uint64_t start_realtime_ns;

	/* examined by --check */
	uint64_t out_of_order;     /* samples earlier than the previous one on their CPU */
	uint64_t outside;          /* samples before the start or after the end */
	uint64_t unmapped_samples; /* whose leaf is in no module */
	uint64_t truncated_samples;
	uint64_t shallow_samples; /* with a single frame: the stack was not unwound */
	uint64_t bad_maps;        /* empty, or ends before it starts */
	uint64_t excess_weights;  /* samples whose weight is too large to sum up */
	uint64_t max_weight_ns;   /* of one sample; 0 if weights are not times */
	bool weighs_time;         /* the first schema counts nanoseconds */
	VEC(uint64_t) cpu_last_ns;
};

/* Takes over fd. The caller must call inspection_fini(), even after a failure. */
int inspection_read(struct inspection *inspection, int fd, const char *name, struct error *err);
void inspection_fini(struct inspection *inspection);

/*
 * Counts frame-pointer stacks that end at no known root as cut. Such stacks do not say so
 * themselves; the names of their functions do. Reads the file again from `start`; fd is borrowed.
 */
void inspection_find_roots(struct inspection *inspection, int fd, int64_t start);

/* The value of a fact, "" if it is missing. */
const char *inspection_fact(const struct inspection *inspection, const char *key);
/* The same as a number, 0 if it is not one. */
uint64_t inspection_number(const struct inspection *inspection, const char *key);

/* What sampling added to the target's CPU time, as the recorder measured it; 0: unknown. */
double inspection_overhead_percent(const struct inspection *inspection);

/* The quality of a recording. */
enum inspect_verdict { VERDICT_GOOD, VERDICT_FAIR, VERDICT_POOR, VERDICT_DAMAGED };

struct inspect_problem {
	enum inspect_verdict weight;
	char text[160];
};

#define INSPECT_MAX_PROBLEMS 12

/* Lists the problems, at most INSPECT_MAX_PROBLEMS; returns the worst verdict. */
enum inspect_verdict inspection_judge(const struct inspection *inspection,
				      struct inspect_problem *problems, size_t *ret_count);
const char *inspect_verdict_name(enum inspect_verdict verdict);

#endif
