/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/long_stack.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "perf_records/perf_record.h"
#include "wire/bpf_walk.h"

void long_stack_fini(struct long_stack *stack)
{
	free(stack->bytes);
	*stack = (struct long_stack){0};
}

/* The size of the stack in a record; 0 if there is none or it is invalid. */
static uint64_t stack_bytes_of(const struct sample_record *sample)
{
	uint64_t size;

	if (sample->raw_bytes < offsetof(struct bpf_walk_slice, stack))
		return 0;
	memcpy(&size, sample->raw + offsetof(struct bpf_walk_slice, stack_bytes), sizeof(size));
	return size <= sample->raw_bytes - offsetof(struct bpf_walk_slice, stack) ? size : 0;
}

static bool is_slice(const struct sample_record *sample)
{
	uint8_t kind = sample->raw_bytes > 0 ? sample->raw[0] : 0;

	return kind == BPF_WALK_SLICE || kind == BPF_WALK_LEAVING || kind == BPF_WALK_WAKER_SLICE;
}

static void append(struct long_stack *stack, const struct sample_record *sample, uint64_t size)
{
	memcpy(stack->bytes + stack->size, sample->raw + offsetof(struct bpf_walk_slice, stack),
	       size);
	stack->size += size;
}

bool long_stack_begin(struct long_stack *stack, const struct sample_record *sample)
{
	uint64_t size = is_slice(sample) ? stack_bytes_of(sample) : 0;

	stack->of = NULL;
	stack->size = 0;
	if (!BPF_WALK_IS_FULL(size) || size > BPF_WALK_SLICE_BYTES)
		return false;
	if (!stack->bytes)
		stack->bytes = malloc(LONG_STACK_BYTES);
	if (!stack->bytes)
		return false; /* its first part is better than nothing */
	append(stack, sample, size);
	stack->of = sample->raw;
	return true;
}

bool long_stack_add(struct long_stack *stack, const struct sample_record *more)
{
	uint64_t size = stack_bytes_of(more);

	if (size > LONG_STACK_BYTES - stack->size)
		return false;
	append(stack, more, size);
	return BPF_WALK_IS_FULL(size);
}
