/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_MAPS_H
#define WICK_BPF_MAPS_H

/*
 * maps: what the engine fills and the programs read. Sizes that depend on the target are set before
 * loading.
 */

#include "bpf/kernel.h"
#include "unwind/table.h"
#include "wire/bpf_walk.h"

/* A chunk of the store; chunks are created as tables are loaded. */
struct chunk {
	uint64_t words[BPF_WALK_CHUNK_WORDS + BPF_WALK_CHUNK_SLACK];
};

struct chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct chunk));
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, BPF_WALK_CHUNKS);
	__uint(key_size, sizeof(uint32_t));
	__array(values, struct chunk_map);
} store SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_WALK_RULES);
	__type(key, uint32_t);
	__type(value, struct unwind_rule);
} rules SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct bpf_walk_key);
	__type(value, struct bpf_walk_space);
} spaces SEC(".maps");

/* One event for each CPU, which feeds the ring of that CPU. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, uint32_t);
	__type(value, uint32_t);
} output SEC(".maps");

/* Wakes the reader: there is an address space that it has not described yet. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} bell SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BPF_WALK_COUNTERS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} counters SEC(".maps");

static __always_inline void count_more(uint32_t counter, uint64_t by)
{
	uint64_t *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += by; /* of this CPU only; an interrupt may lose one */
}

static __always_inline void count(uint32_t counter)
{
	count_more(counter, 1);
}

#endif
