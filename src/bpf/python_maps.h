/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_PYTHON_MAPS_H
#define WICK_BPF_PYTHON_MAPS_H

/* python_maps: what is known about interpreters: filled by the engine, then by the programs. */

#include "bpf/kernel.h"
#include "unwind/python_layout.h"
#include "wire/bpf_walk.h"

/* The interpreters of address spaces. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct bpf_walk_key);
	__type(value, struct python_layout);
} pythons SEC(".maps");

struct python_thread_key {
	uint64_t mm;
	uint64_t thread_pointer;
};

/* The thread states that were found. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct python_thread_key);
	__type(value, uint64_t);
} python_threads SEC(".maps");

struct python_code_key {
	struct bpf_walk_key space;
	uint64_t address;
};

/* The code objects that were sent: a mix of what they refer to. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct python_code_key);
	__type(value, uint64_t);
} python_codes SEC(".maps");

#endif
