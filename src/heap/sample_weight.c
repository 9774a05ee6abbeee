/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/sample_weight.h"

#include <errno.h>
#include <math.h>

#include "base/id_index.h"
#include "base/vec.h"

void heap_rates_fini(struct heap_rates *rates)
{
	vec_fini(&rates->by_process);
}

/* The index of a rate, which blocks store. */
static uint8_t number_of(struct heap_rates *rates, uint64_t bytes, uint32_t extra)
{
	uint32_t i;

	for (i = 0; i <= rates->count; i++)
		if (rates->bytes[i] == bytes && (bytes == 0 || rates->extra[i] == extra))
			return (uint8_t)i;
	if (rates->count < HEAP_RATES - 1)
		rates->count++;
	rates->bytes[rates->count] = bytes;
	rates->extra[rates->count] = extra;
	return (uint8_t)rates->count;
}

int heap_rates_set(struct heap_rates *rates, uint32_t process, uint64_t bytes, uint32_t extra)
{
	while (rates->by_process.count <= process)
		if (vec_push(&rates->by_process, 0) < 0)
			return -ENOMEM;
	rates->by_process.items[process] = number_of(rates, bytes, extra);
	return 0;
}

static double weigh(uint64_t rate, uint64_t size)
{
	double bytes = size > 0 ? (double)size : 1; /* an empty block counts as one byte */

	if (rate & HEAP_RATE_CHANCE)
		return 0x1p32 / (double)(uint32_t)rate;
	return -1 / expm1(-bytes / (double)rate);
}

double heap_weight_sampled(struct heap_rates *rates, uint8_t rate, uint64_t size)
{
	uint64_t key = size * HEAP_RATES + rate;
	uint64_t at = hash_pair(key, 0) % ARRAY_SIZE(rates->known);

	if (rates->known[at].key != key) {
		rates->known[at].key = key;
		rates->known[at].weight = weigh(rates->bytes[rate], size + rates->extra[rate]);
	}
	return rates->known[at].weight;
}
