/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_INSPECT_H
#define WICK_LOAD_INSPECT_H

/*
 * inspect: what is in a recording, and whether it can be trusted.
 *
 * Reads a file from end to end and keeps counts only, besides the dictionary.
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

	uint64_t samples;        /* a record may stand for many; at most INT64_MAX */
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

	/* what --check looks at */
	uint64_t out_of_order;     /* samples earlier than one before on their CPU */
	uint64_t outside;          /* samples before the start or after the end */
	uint64_t unmapped_samples; /* leaf in no module */
	uint64_t truncated_samples;
	uint64_t shallow_samples; /* a single frame: the stack was not followed */
	uint64_t bad_maps;        /* empty, or ends before it starts */
	uint64_t excess_weights;  /* samples whose weight fits into no sum */
	uint64_t max_weight_ns;   /* of one sample; 0 when weights are no times */
	bool weighs_time;         /* the first schema counts nanoseconds */
	VEC(uint64_t) cpu_last_ns;
};

/* Takes over fd. The caller releases with inspection_fini() in any case. */
int inspection_read(struct inspection *inspection, int fd, const char *name, struct error *err);
void inspection_fini(struct inspection *inspection);

/*
 * Counts stacks of frame pointers that end at no known root as cut; they do not say so themselves,
 * the names of their functions do. Reads the file of fd, which is borrowed, from start on once
 * more.
 */
void inspection_find_roots(struct inspection *inspection, int fd, int64_t start);

/* The value of a fact, "" when it is not there. */
const char *inspection_fact(const struct inspection *inspection, const char *key);
/* The same as a number, 0 when it is none. */
uint64_t inspection_number(const struct inspection *inspection, const char *key);

/* What sampling added to the target's CPU time, as the recorder measured it; 0: unknown. */
double inspection_overhead_percent(const struct inspection *inspection);

/* What may be wrong with it. */
enum inspect_verdict { VERDICT_GOOD, VERDICT_FAIR, VERDICT_POOR, VERDICT_DAMAGED };

struct inspect_problem {
	enum inspect_verdict weight;
	char text[160];
};

#define INSPECT_MAX_PROBLEMS 12

/* Lists what is wrong, at most INSPECT_MAX_PROBLEMS; returns the worst verdict. */
enum inspect_verdict inspection_judge(const struct inspection *inspection,
				      struct inspect_problem *problems, size_t *ret_count);
const char *inspect_verdict_name(enum inspect_verdict verdict);

#endif
