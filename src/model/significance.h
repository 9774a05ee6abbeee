/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_SIGNIFICANCE_H
#define WICK_MODEL_SIGNIFICANCE_H

/*
 * significance: whether a change between two profiles is more than noise.
 *
 * A share of a profile is an estimate. Its variance is the larger of two:
 *
 *	counts  samples as independent draws: the binomial variance; for weights
 *	        that differ, with the mean weights of the part and of the rest
 *	slices  what the load really did: how much the part departs from its share
 *	        of a slice of time, by the differences between neighbouring slices
 *
 * Samples of one run follow each other in time: while a burst lasts they all
 * fall into the same function, and counts alone would take one burst for a
 * hundred proofs. Differences of neighbours, and not departures from the mean,
 * because a program that first reads and then computes does so in every run: such
 * phases are no noise, and only the slices where they change enter.
 *
 * What is not seen in a profile is not in its variance: how runs differ as a whole.
 *
 * Values of a profile that counts no samples, as bytes of a heap, are no estimates: their
 * variance is 0, and any change is sure.
 */

#include <stdint.h>

struct cost;
struct cost_table;

struct estimate {
	double value;
	double variance; /* infinite when nothing is known */
	double grain;    /* what one sample is worth */
};

/* The part's share of the table's whole, and the part as it is. */
struct estimate estimate_share(const struct cost *part, const struct cost_table *table);
struct estimate estimate_amount(const struct cost *part, const struct cost_table *table);

/* The same in another unit. */
struct estimate estimate_scaled(struct estimate estimate, double factor);

/*
 * How sure it is that after is more than before * factor + offset: near 1 when it
 * is, near 0 when it is not. Half a sample of each side is given to noise, as
 * Yates does: counts are whole numbers.
 */
double significance_more(const struct estimate *before, const struct estimate *after, double factor,
			 double offset);

/* How sure it is that both differ, in whatever direction: 0 … 1. */
double significance_differ(const struct estimate *before, const struct estimate *after);

#endif
