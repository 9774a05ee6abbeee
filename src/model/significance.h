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
 *	        of a slice of time, from the differences between neighbouring slices
 *
 * Samples of one run are correlated in time: during a burst they are all in the same function, and
 * counts would treat one burst as a hundred independent observations. We use differences between
 * neighbours, not departures from the mean, because a program that first reads and then computes
 * does so in every run: such phases are not noise, and only the slices where they change
 * contribute.
 *
 * The variance does not include what one profile cannot show: how whole runs differ.
 *
 * Values of a profile that does not count samples, such as bytes of a heap, are not estimates:
 * their variance is 0, and any change is certain.
 */

#include <stdint.h>

struct cost;
struct cost_table;

struct estimate {
	double value;
	double variance; /* infinite when nothing is known */
	double grain;    /* weight of one sample */
};

/* The part's share of the table's whole, and the part itself. */
struct estimate estimate_share(const struct cost *part, const struct cost_table *table);
struct estimate estimate_amount(const struct cost *part, const struct cost_table *table);

/* The same in another unit. */
struct estimate estimate_scaled(struct estimate estimate, double factor);

/*
 * The confidence that after is more than before * factor + offset: near 1 if it is, near 0 if it is
 * not. Half a sample on each side is attributed to noise (Yates's correction), because counts are
 * integers.
 */
double significance_more(const struct estimate *before, const struct estimate *after, double factor,
			 double offset);

/* The confidence that both differ, in either direction: 0 … 1. */
double significance_differ(const struct estimate *before, const struct estimate *after);

#endif
