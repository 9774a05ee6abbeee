/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_SAMPLE_COLUMNS_H
#define WICK_RECORDING_SAMPLE_COLUMNS_H

/* sample_columns: samples in memory, in the layout of batches. */

#include "base/vec.h"
#include "model/sink.h"

struct sample_columns {
	VEC(uint32_t) schema;
	VEC(uint32_t) stack;
	VEC(uint32_t) thread;
	VEC(uint32_t) cpu;
	VEC(uint32_t) labels;
	VEC(uint64_t) time_ns;
	VEC(uint64_t) weight;
	VEC(uint64_t) times;
	size_t count; /* length of each column */
};

void sample_columns_fini(struct sample_columns *columns);

/* Makes room for n samples. Returns 0 or -ENOMEM. */
int sample_columns_reserve(struct sample_columns *columns, size_t n);

/* Adds the samples of a batch. Returns 0 or -ENOMEM. */
int sample_columns_add(struct sample_columns *columns, const struct sample_batch *batch);

/* The run of samples with the same schema, from `at` on; borrowed. */
struct sample_batch sample_columns_batch(const struct sample_columns *columns, size_t at);

#endif
