/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_NUMBERS_H
#define WICK_VIEW_HEAP_HEAP_NUMBERS_H

/*
 * heap_numbers: what is known of a heap as JSON, and what makes its numbers doubtful. The keys are
 * in docs/reference/json.md.
 */

#include <stdint.h>

#include "heap/weight.h"

struct heap_lifetimes;
struct heap_report;
struct json;
struct profile;
struct profile_quality;
struct site_row;

void heap_put_number(struct json *json, const char *key, double value);
void heap_put_sum(struct json *json, const char *key, struct heap_sum sum);

/* "totals", and "quality", in which those of pools are. */
void heap_put_totals(struct json *json, const struct heap_report *report);
void heap_put_quality(struct json *json, const struct heap_report *report);

/* "lifetimes": blocks by how long they lived. */
void heap_put_lifetimes(struct json *json, const struct heap_lifetimes *lifetimes);

/* What is told of a place that allocates, as members of an object. */
void heap_put_place(struct json *json, const struct profile *profile, const struct site_row *row);

struct heap_doubt {
	uint64_t count; /* 0: there is none */
	const char *words;
};

#define HEAP_DOUBTS 8

/* What to know of the events before their numbers are trusted. */
void heap_doubts_of(const struct profile_quality *file, const struct heap_report *report,
		    struct heap_doubt ret[HEAP_DOUBTS]);

#endif
