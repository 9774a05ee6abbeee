/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_CONFIDENCE_H
#define WICK_HEAP_LEAK_LEAK_CONFIDENCE_H

/*
 * leak_confidence: the confidence that a row is a leak, and the evidence in words.
 *
 * The class gives the initial value. Lost calls, memory that the scan could not read, growth and
 * age change it.
 */

#include <stdint.h>

struct bytes;
struct leak_row;
struct leak_scan;

/* Returns 0 … 1; scan is the row's scan, NULL: none. run_ns: how long the program had run. */
double leak_confidence(const struct leak_row *row, const struct leak_scan *scan, uint64_t run_ns);

/* Calls tell() for each piece of evidence. */
typedef void leak_words_fn(void *self, const char *words);
void leak_evidence_words(const struct leak_row *row, const struct leak_scan *scan,
			 leak_words_fn *tell, void *self);

/* How the leak was found: "scan at exit" … */
const char *leak_method(const struct leak_row *row, const struct leak_scan *scan);

/* "at exit" … */
const char *leak_trigger_name(uint32_t trigger);

/* What to do about a kind of leak. */
const char *leak_advice(const struct leak_row *row);

#endif
