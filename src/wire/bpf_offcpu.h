/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_OFFCPU_H
#define WICK_WIRE_BPF_OFFCPU_H

/*
 * bpf_offcpu: what the BPF programs keep about a thread that leaves its CPU, and the record that
 * they make of it; see bpf/offcpu.bpf.c.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/bpf_walk.h"

#define BPF_WALK_AWAY_DEPTH 640u /* 512 user frames and all kernel frames */

/*
 * Where a thread was in its program when it left its CPU, and the times that it left from there
 * since the last stack was taken, which are reported as sums.
 */
struct bpf_walk_sums {
	uint64_t pc; /* both 0: anywhere */
	uint64_t sp;
	uint64_t calls; /* hash of the first return addresses; 0: unknown */
	uint64_t lock;  /* that it waited for; 0: none, or several */
	uint64_t count;
	uint64_t slept_ns;   /* until it was woken; if preempted, all of it */
	uint64_t waited_ns;  /* for a CPU after that */
	uint64_t longest_ns; /* the longest single sleep */
	uint32_t state;      /* enum bpf_walk_state */
	uint32_t forced;     /* the stack was not taken at random: the previous time was long */
};

/*
 * Return addresses near the top of the stack that are part of a place: callers at the same depth.
 */
#define BPF_WALK_CALLS 4u

/* A place where a thread leaves its CPU, and when its stack is taken there again. */
struct bpf_walk_place {
	struct bpf_walk_sums sums;
	uint64_t taken_ns; /* the last time; 0: never */
	/* Offsets of the return addresses, in words above sp. */
	uint8_t at[BPF_WALK_CALLS];
	uint32_t seen;      /* times since it was last taken */
	uint32_t skip;      /* how many more to skip */
	uint32_t has_calls; /* they are known */
};

#define BPF_WALK_COMMON_PLACES 8u /* for a thread, by hash; followed by one for each state */
#define BPF_WALK_PLACES 12u
/* Stacks of new places that can be taken at once; after that one every gap / 8. */
#define BPF_WALK_NEW_PLACES 64u

/*
 * What is kept about a thread. What is used each time comes first, so that it is on few pages; from
 * the head on it is a record.
 */
struct bpf_walk_away {
	struct bpf_walk_place places[BPF_WALK_PLACES];
	uint64_t forgiven_ns; /* when new_taken was last reduced */
	uint32_t new_taken;   /* stacks of new places, minus those forgiven over time */
	uint32_t place;       /* where it left */
	uint32_t taken;       /* its stack was taken */
	uint32_t zero;
	struct bpf_walk_head head;
	struct bpf_walk_times times;
	struct bpf_walk_sums sums;
	uint64_t pcs[BPF_WALK_AWAY_DEPTH];
};

/* Size of a record without a stack. */
#define BPF_WALK_AWAY_BYTES                                                                        \
	(offsetof(struct bpf_walk_away, pcs) - offsetof(struct bpf_walk_away, head))

#endif
