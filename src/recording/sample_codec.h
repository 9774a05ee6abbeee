/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_SAMPLE_CODEC_H
#define WICK_RECORDING_SAMPLE_CODEC_H

/*
 * sample_codec: encodes and decodes columns of samples.
 *
 * Each column is encoded relative to a prediction: a stack is often the next new one, a thread is
 * often the one that its CPU ran before, a sample comes one period after the last one of its CPU.
 * Correctly predicted values become zeros, which compress to almost nothing. Columns whose codes
 * are all equal shrink to one value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

/* The state of one CPU while a chunk is encoded or decoded. */
struct cpu_state {
	uint64_t ticks;  /* of its last sample */
	uint32_t thread; /* of its last sample; UINT32_MAX before the first */
	uint32_t chunk;  /* the chunk it belongs to: a state of an earlier chunk is reset */
};

struct cpu_states {
	VEC(struct cpu_state) list; /* by CPU number */
	uint32_t chunk;
	uint64_t base_ticks; /* initial time of all CPUs in this chunk */
};

/* One sample with ids of the epoch. */
struct coded_sample {
	uint32_t stack; /* number of the stack in the epoch */
	uint32_t thread;
	uint32_t cpu;
	uint32_t labels; /* 0: none */
	uint64_t time_ns;
	uint64_t weight;
	uint64_t more; /* samples that it represents in addition to itself */
};

#define SAMPLE_COLUMNS 7

/* Enough for good compression; 2 s at 8 kHz. */
#define SAMPLES_A_CHUNK 16384u

struct sample_encoder {
	struct bytes columns[SAMPLE_COLUMNS];
	struct cpu_states cpus;

	size_t count;
	uint32_t schema;
	uint64_t first_sample; /* samples in the file before this chunk */
	uint64_t period_ticks;
	uint32_t first_stack; /* the number that code 0 means first */
	uint32_t next_stack;
	uint32_t max_thread;
	uint32_t max_labels;
	uint64_t last_weight;
	uint32_t last_labels;
	bool failed; /* out of memory */
};

void sample_encoder_fini(struct sample_encoder *encoder);

/* Begins a chunk. first_stack is the number of the next new stack. */
void sample_encoder_begin(struct sample_encoder *encoder, uint32_t schema, uint64_t period_ns,
			  uint64_t first_sample, uint32_t first_stack);

/*
 * Adds a sample, at most SAMPLES_A_CHUNK per chunk. Its CPU must be below RECORDING_MAX_CPUS, its
 * weight below UINT64_MAX. Failures are reported by sample_encoder_finish().
 */
void sample_encoder_add(struct sample_encoder *encoder, const struct coded_sample *sample);

/* Appends the payload of the chunk. Returns 0 or -ENOMEM. */
int sample_encoder_finish(struct sample_encoder *encoder, struct bytes *out);

struct sample_decoder {
	struct cpu_states cpus;

	uint32_t schema;
	uint64_t first_sample;
	VEC(struct coded_sample) samples; /* of the last decoded chunk */
};

void sample_decoder_fini(struct sample_decoder *decoder);

/* Decodes a payload into samples. Returns 0, -EBADMSG or -ENOMEM. */
int sample_decoder_run(struct sample_decoder *decoder, const uint8_t *data, size_t size);

#endif
