/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_OFFCPU_H
#define WICK_WIRE_BPF_OFFCPU_H

/*
 * bpf_offcpu: what the BPF programs keep of a thread that leaves its CPU, and the record that
 * they make of it; see bpf/offcpu.bpf.c.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/bpf_walk.h"

#define BPF_WALK_AWAY_DEPTH 640u /* 512 of the user's with all of the kernel's */

/*
 * Where a thread was in its program when it left its CPU, and the times that it left from
 * there since the last stack was taken, which are told in sums.
 */
struct bpf_walk_sums {
	uint64_t pc; /* both 0: anywhere */
	uint64_t sp;
	uint64_t calls; /* hash of the first return addresses; 0: not known */
	uint64_t lock;  /* that it waited for there; 0: none, or not always the same */
	uint64_t count;
	uint64_t slept_ns;   /* until it was woken; of one that was preempted, all */
	uint64_t waited_ns;  /* for a CPU after that */
	uint64_t longest_ns; /* that one of them slept */
	uint32_t state;      /* enum bpf_walk_state */
	uint32_t forced;     /* the stack was not taken at random: the time before was long */
};

/* Return addresses near the top of the stack that belong to a place: callers of the same depth. */
#define BPF_WALK_CALLS 4u

/* A place that a thread leaves its CPU from, and when its stack is taken there again. */
struct bpf_walk_place {
	struct bpf_walk_sums sums;
	uint64_t taken_ns; /* when it was last; 0: never */
	/* Where the return addresses lie, in words above sp. */
	uint8_t at[BPF_WALK_CALLS];
	uint32_t seen;      /* times since it was taken */
	uint32_t skip;      /* the next so many are not */
	uint32_t has_calls; /* they are known */
};

#define BPF_WALK_COMMON_PLACES 8u /* of a thread, by hash; and one for each state behind them */
#define BPF_WALK_PLACES 12u
/* Stacks of new places that can be taken at once; after that one each gap / 8. */
#define BPF_WALK_NEW_PLACES 64u

/*
 * What is kept of a thread. What is looked at each time comes first, for it is to be on few pages;
 * from the head on it is a record.
 */
struct bpf_walk_away {
	struct bpf_walk_place places[BPF_WALK_PLACES];
	uint64_t forgiven_ns; /* when new_taken was last looked at */
	uint32_t new_taken;   /* stacks of new places, as far as they are not forgiven */
	uint32_t place;       /* that it left from */
	uint32_t taken;       /* its stack was */
	uint32_t zero;
	struct bpf_walk_head head;
	struct bpf_walk_times times;
	struct bpf_walk_sums sums;
	uint64_t pcs[BPF_WALK_AWAY_DEPTH];
};

/* Of a record without a stack. */
#define BPF_WALK_AWAY_BYTES                                                                        \
	(offsetof(struct bpf_walk_away, pcs) - offsetof(struct bpf_walk_away, head))

#endif
