/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_OFFCPU_CALLS_H
#define WICK_BPF_OFFCPU_CALLS_H

/*
 * offcpu_calls: the first return addresses on the stack of a thread that leaves its CPU: they
 * distinguish threads that come to the same place from elsewhere.
 */

#include "bpf/kernel.h"
#include "bpf/scratch.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

#define HASH_FACTOR 0x9e3779b97f4a7c15ull

/* Hashes the return addresses of a place as they are on the stack now, which is in the window. */
static __always_inline uint64_t hash_calls(const struct scratch *scratch,
					   const struct bpf_walk_place *place)
{
	uint64_t hash = 0;

#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_CALLS; i++)
		hash = (hash ^ *(const uint64_t *)(scratch->window +
						   (place->at[i] * 8 & (WINDOW_BYTES - 8)))) *
		       HASH_FACTOR;
	return hash;
}

/*
 * Whether a word of the window is the next return address of the stack that was taken, or the one
 * after it: the first may be in a register.
 */
static long find_call(uint32_t index, void *context)
{
	struct scratch *scratch = *(struct scratch **)context;
	const struct bpf_walk_stack *stack = &scratch->record.stack;
	uint32_t found = scratch->calls_found;
	uint32_t next = scratch->calls_next;
	uint32_t pc = stack->head.kernel_count + next;
	uint64_t word = *(const uint64_t *)(scratch->window + (index * 8 & (WINDOW_BYTES - 8)));

	if (found >= BPF_WALK_CALLS || next + 1 >= stack->head.user_count ||
	    pc >= BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH - 1)
		return 1;
	if (stack->pcs[pc] != word && stack->pcs[pc + 1] != word)
		return 0;
	scratch->calls[found] = (uint8_t)index;
	scratch->calls_found = found + 1;
	scratch->calls_next = next + (stack->pcs[pc] == word ? 1 : 2);
	return 0;
}

/*
 * Finds the first return addresses of the stack that was taken, to distinguish other ways to the
 * same place.
 */
static __noinline void learn_calls(struct scratch *scratch, struct bpf_walk_place *place)
{
	uint32_t last;

	if (bpf_probe_read_user(scratch->window, WINDOW_BYTES, (void *)place->sums.sp) != 0)
		return;
	scratch->calls_found = 0;
	scratch->calls_next = 1;
	bpf_loop(WINDOW_BYTES / 8, find_call, &scratch, 0);
	last = scratch->calls_found;
	if (last == 0)
		return;
#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_CALLS; i++)
		place->at[i] = scratch->calls[i < last ? i : 0];
	place->has_calls = true;
	place->sums.calls = hash_calls(scratch, place);
}

#endif
