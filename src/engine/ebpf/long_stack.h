/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_LONG_STACK_H
#define WICK_ENGINE_EBPF_LONG_STACK_H

/*
 * long_stack: joins the parts of a slice whose stack does not fit into one record.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/bpf_walk.h"

#define LONG_STACK_BYTES ((uint64_t)BPF_WALK_SLICE_BYTES * (1 + BPF_WALK_SLICE_MORE))

struct sample_record;

struct long_stack {
	const uint8_t *of; /* the raw part of the first record; NULL: none */
	uint8_t *bytes;    /* room for the longest stack; allocated when first needed */
	uint64_t size;
};

void long_stack_fini(struct long_stack *stack);

/* Begins with a record. False: it has the whole stack. */
bool long_stack_begin(struct long_stack *stack, const struct sample_record *sample);

/* Adds the next part. False: it was the last one, or did not fit. */
bool long_stack_add(struct long_stack *stack, const struct sample_record *more);

#endif
