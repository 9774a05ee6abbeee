/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_OFFCPU_PLACES_H
#define WICK_ENGINE_EBPF_OFFCPU_PLACES_H

/*
 * offcpu_places: the stacks that were seen at the places where threads leave their CPUs.
 *
 * Where a thread leaves its CPU very often, its stack is taken only some of the times, at random;
 * the other times are added up, see bpf/offcpu.bpf.c. Such a sum is divided among the stacks that
 * were recently taken at the place, in proportion to their own times. Nearly always that is one
 * stack. Long and short times have the same chance to be taken, so the shares are right on
 * average, and their sum is always exact.
 */

#include <stddef.h>
#include <stdint.h>

#include "engine/perf/stack_facts.h"

#define AWAY_STACKS 8u /* kept for each place */

struct bpf_walk_sums;
struct offcpu_places;

/* A time off a CPU: asleep, then waiting for the CPU; each has its stack. */
struct away_time {
	uint32_t slept_stack;
	uint32_t waited_stack;
	uint64_t slept_ns;
	uint64_t waited_ns;
	uint64_t lock;            /* that it waited for; 0: none */
	uint64_t chance;          /* of such a time, relative to others; unset when it is added */
	struct stack_facts facts; /* of the stacks */
};

/* Times that were added up. */
struct away_sum {
	uint64_t ns;
	uint64_t count;
	uint64_t longest_ns; /* no single time was longer; 0: unknown */
};

struct away_share {
	uint32_t stack;
	uint64_t lock;
	uint64_t ns;
	uint64_t count; /* of times; at least one */
	uint64_t chance;
	struct stack_facts facts;
};

struct offcpu_place {
	uint32_t tid;
	uint32_t state;
	uint64_t pc;
	uint64_t sp;
	uint64_t calls;
	uint64_t lock;
	uint32_t count;  /* of stacks */
	uint32_t oldest; /* next to be replaced, in the place of a state (pc is 0) */
	uint64_t turn;   /* state of offcpu_place_choose() */
	uint64_t owed;   /* times that shares have had in excess */
	struct away_time stacks[AWAY_STACKS]; /* with the sums of their times, which decay */
};

/* NULL: out of memory. */
struct offcpu_places *offcpu_places_new(void);
void offcpu_places_free(struct offcpu_places *places); /* NULL is fine */

/* Forgets all places: ids of stacks are no longer valid. NULL is fine. */
void offcpu_places_clear(struct offcpu_places *places);

/* The place of a thread; it has no stacks if it is new or another place took its room. */
struct offcpu_place *offcpu_places_find(struct offcpu_places *places, uint32_t tid,
					const struct bpf_walk_sums *sums);

/* Adds a time whose stack was taken. */
void offcpu_place_add(struct offcpu_place *place, const struct away_time *time);

/*
 * Chooses a stack for one time whose own stack was not taken: one that waited for that lock, if
 * there is any. Each is chosen in proportion to its times. NULL: the place has none.
 */
const struct away_time *offcpu_place_choose(struct offcpu_place *place, uint64_t lock);

/*
 * Divide a sum among the stacks of a place: the time asleep among stacks and locks, or the time
 * waiting for a CPU among stacks. Return the number of shares; 0: no stack is known.
 */
size_t offcpu_place_share_slept(struct offcpu_place *place, struct away_sum sum,
				struct away_share shares[AWAY_STACKS]);
size_t offcpu_place_share_waited(const struct offcpu_place *place, struct away_sum sum,
				 struct away_share shares[AWAY_STACKS]);

#endif
