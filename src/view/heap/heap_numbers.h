/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_NUMBERS_H
#define WICK_VIEW_HEAP_HEAP_NUMBERS_H

/*
 * heap_numbers: the numbers of a heap as JSON, and reasons to doubt them. The keys are in
 * docs/reference/json.md.
 */

#include <stdint.h>

#include "heap/sample_weight.h"

struct heap_lifetimes;
struct heap_report;
struct json;
struct profile;
struct profile_quality;
struct site_row;

void heap_put_number(struct json *json, const char *key, double value);
void heap_put_sum(struct json *json, const char *key, struct heap_sum sum);

/* "totals", and "quality", which includes those of pools. */
void heap_put_totals(struct json *json, const struct heap_report *report);
void heap_put_quality(struct json *json, const struct heap_report *report);

/* "lifetimes": blocks by lifetime. */
void heap_put_lifetimes(struct json *json, const struct heap_lifetimes *lifetimes);

/* The numbers of an allocation site, as members of an object. */
void heap_put_place(struct json *json, const struct profile *profile, const struct site_row *row);

struct heap_doubt {
	uint64_t count; /* 0: no doubt */
	const char *words;
};

#define HEAP_DOUBTS 8

/* Lists what makes the numbers unreliable. */
void heap_doubts_of(const struct profile_quality *file, const struct heap_report *report,
		    struct heap_doubt ret[HEAP_DOUBTS]);

#endif
