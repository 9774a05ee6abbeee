/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_CONFIDENCE_H
#define WICK_HEAP_LEAK_LEAK_CONFIDENCE_H

/*
 * leak_confidence: how sure it is that a row is a leak, and why, in words.
 *
 * The class gives a start, and each of these moves it: calls that were lost, what could not be
 * read at the scan, growth, and age.
 */

#include <stdint.h>

struct bytes;
struct leak_row;
struct leak_scan;

/* 0 … 1; scan is that of the row, NULL without one. run_ns: how long the program had run. */
double leak_confidence(const struct leak_row *row, const struct leak_scan *scan, uint64_t run_ns);

/* Each piece of evidence, told to a function. */
typedef void leak_words_fn(void *self, const char *words);
void leak_evidence_words(const struct leak_row *row, const struct leak_scan *scan,
			 leak_words_fn *tell, void *self);

/* How it was found: "scan at exit" … */
const char *leak_method(const struct leak_row *row, const struct leak_scan *scan);

/* "at exit" … */
const char *leak_trigger_name(uint32_t trigger);

/* What to do about a kind of leak. */
const char *leak_advice(const struct leak_row *row);

#endif
