/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_OFFCPU_MAPS_H
#define WICK_BPF_OFFCPU_MAPS_H

/* offcpu_maps: what the programs that watch threads off their CPUs share. */

#include "bpf/kernel.h"
#include "bpf/scratch.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

/* What to watch, by process id or thread id; empty for the whole machine. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t); /* enum bpf_walk_watch */
} watched SEC(".maps");

SHARED struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} switch_scratch SEC(".maps");

/* Threads that are off their CPUs, by thread id as the kernel counts. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_walk_away);
} away SEC(".maps");

#endif
