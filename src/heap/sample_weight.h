/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_SAMPLE_WEIGHT_H
#define WICK_HEAP_SAMPLE_WEIGHT_H

/*
 * sample_weight: how many blocks a sampled block represents.
 *
 * Blocks are sampled by bytes: a block of s bytes is sampled with probability p = 1 - exp(-s /
 * rate), so it represents 1 / p blocks of its size. Weights are added up block by block: correcting
 * sums afterwards by an average size would be wrong. Without sampling a block represents itself,
 * and sums of integers in doubles are exact up to 2^53.
 *
 * Some sources sample each block with the same probability, regardless of its size.
 */

#include <stdint.h>

#include "base/vec.h"

/* The sum of some blocks. */
struct heap_sum {
	double bytes;
	double blocks;
};

/* Limit for different rates in one recording; the last one is used for any beyond. */
#define HEAP_RATES 256u

struct heap_rates {
	/* Mean bytes between samples, or a HEAP_RATE_CHANCE; [0] is 0: all blocks are recorded */
	uint64_t bytes[HEAP_RATES];
	uint32_t extra[HEAP_RATES]; /* bytes that count in addition to each block */
	uint32_t count;             /* number of rates without [0] */
	/* A cache: many blocks share few sizes. */
	struct {
		uint64_t key; /* size * HEAP_RATES + rate; 0: none */
		double weight;
	} known[1024];
	VEC(uint8_t) by_process; /* index of the rate of each process; 0 for those beyond */
};

void heap_rates_fini(struct heap_rates *rates);

/* A rate that is a probability: this bit and the probability times 2^32. */
#define HEAP_RATE_CHANCE (UINT64_C(1) << 63)

/*
 * From now on, blocks of a process are sampled once in this many bytes, or with a HEAP_RATE_CHANCE;
 * 0: all. Each block counts with `extra` more bytes. 0 or -ENOMEM.
 */
int heap_rates_set(struct heap_rates *rates, uint32_t process, uint64_t bytes, uint32_t extra);

static inline uint8_t heap_rates_of(const struct heap_rates *rates, uint32_t process)
{
	return process < rates->by_process.count ? rates->by_process.items[process] : 0;
}

double heap_weight_sampled(struct heap_rates *rates, uint8_t rate, uint64_t size);

static inline double heap_weight(struct heap_rates *rates, uint8_t rate, uint64_t size)
{
	return rate == 0 ? 1.0 : heap_weight_sampled(rates, rate, size);
}

/*
 * The variance of an estimated sum is the sum of this over the sampled blocks (times size * size
 * for a sum of bytes): (1 - p) / p^2.
 */
static inline double heap_weight_variance(double weight)
{
	return weight * (weight - 1);
}

/* The same for a block, from its sum. */
static inline struct heap_sum heap_sum_variance(struct heap_sum sum)
{
	double variance = heap_weight_variance(sum.blocks);
	double size = sum.blocks > 0 ? sum.bytes / sum.blocks : 0;

	return (struct heap_sum){variance * size * size, variance};
}

#endif
