/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_HEAP_THREAD_H
#define WICK_BPF_HEAP_THREAD_H

/*
 * heap_thread: the call of an allocator's function that a thread is in, and whether another call is
 * part of it.
 *
 * Returns are not always seen: they are not requested if a block is not recorded, and an exception
 * leaves a function without one. So a call is identified by its position on the stack.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "wire/bpf_heap.h"

struct heap_thread {
	uint64_t mm; /* if it differs, the thread now runs another program */
	/* The last outermost call, at its entry: */
	uint64_t sp;
	uint64_t return_address;
	uint64_t size;
	uint64_t block;      /* to be resized, or where the new one will be stored */
	uint64_t left_bytes; /* until the next sampled block; 0: not drawn yet */
	uint32_t function;
	uint8_t awaited; /* its return is awaited */
	uint8_t chosen;  /* its block is recorded */
	uint8_t moved;   /* it was reported that the block is about to be replaced */
	uint8_t zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heap_thread);
} heap_threads SEC(".maps");

/* The functions' code, sorted or not, and the range around all of it. */
const volatile struct bpf_heap_range heap_ranges[BPF_HEAP_FUNCTIONS] = {};
const volatile uint32_t heap_range_count = 0;
const volatile struct bpf_heap_range heap_code = {};

/* Where the kernel makes calls return to if it reports their return; 0: unknown yet. */
volatile uint64_t heap_trampoline = 0;

/* Whether the allocator itself is the caller. */
static __always_inline bool is_own_code(uint64_t address)
{
	if (address - heap_code.start >= heap_code.end - heap_code.start)
		return false;
	for (uint32_t i = 0; i < BPF_HEAP_FUNCTIONS && i < heap_range_count; i++)
		if (address - heap_ranges[i].start < heap_ranges[i].end - heap_ranges[i].start)
			return true;
	return false;
}

/*
 * Whether a call that begins is part of the last outermost one. One that was jumped to has its
 * caller's position and return address, or what the kernel put in place of that; no caller calls
 * two functions from one place.
 */
static __always_inline bool is_nested(struct heap_thread *thread, uint64_t sp,
				      uint64_t return_address, uint32_t function)
{
	if (heap_trampoline != 0 && return_address == heap_trampoline)
		return true;
	if (sp == thread->sp && function != thread->function &&
	    (return_address == thread->return_address || (thread->awaited && heap_trampoline == 0)))
		return true;
	if (thread->awaited && sp < thread->sp)
		return true;
	thread->awaited = false; /* if it was, that call ended without a return */
	return is_own_code(return_address);
}

#endif
