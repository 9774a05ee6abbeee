/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_OFFCPU_PLACES_H
#define WICK_ENGINE_EBPF_OFFCPU_PLACES_H

/*
 * offcpu_places: which stacks were seen at the places that threads leave their CPUs from.
 *
 * Where a thread leaves its CPU very often, its stack is taken some of the times only, at
 * random; of the others the sums are known, see bpf/offcpu.bpf.c. Such a sum is shared by the
 * stacks that were taken at the place of late, as their own times are to each other. Nearly
 * always that is one stack. A long time and a short one have the same chance to be taken, so
 * that the shares come out right when many are added up, and their sum is exact always.
 */

#include <stddef.h>
#include <stdint.h>

#include "engine/perf/stack_facts.h"

#define AWAY_STACKS 8u /* that are kept of a place */

struct offcpu_places;
struct bpf_walk_sums;

/* A time off a CPU: asleep, then waiting for the CPU; and the stack of either. */
struct away_time {
	uint32_t slept_stack;
	uint32_t waited_stack;
	uint64_t slept_ns;
	uint64_t waited_ns;
	uint64_t lock;   /* that it slept for; 0: none */
	uint64_t chance; /* that one like it is taken, beside others; of one that is added: unset */
	struct stack_facts facts; /* of the stacks */
};

/* What is known of times that were added up: how long they were together, and how many. */
struct away_sum {
	uint64_t ns;
	uint64_t count;
	uint64_t longest_ns; /* no single time was longer; 0: not known */
};

struct away_share {
	uint32_t stack;
	uint64_t lock;
	uint64_t ns;
	uint64_t count; /* of the times; one at least */
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
	uint32_t count;                       /* of stacks */
	uint32_t oldest;                      /* of those of a place that is anywhere */
	uint64_t turn;                        /* of offcpu_place_choose() */
	uint64_t owed;                        /* times that shares had beyond those there were */
	struct away_time stacks[AWAY_STACKS]; /* with the sums of their times, which fade */
};

/* NULL without memory. */
struct offcpu_places *offcpu_places_new(void);
void offcpu_places_free(struct offcpu_places *places); /* NULL is fine */

/* Forgets all: stacks have other numbers from now on. NULL is fine. */
void offcpu_places_clear(struct offcpu_places *places);

/* The place of a thread; one that is new, or was forgotten for another, has no stacks. */
struct offcpu_place *offcpu_places_find(struct offcpu_places *places, uint32_t tid,
					const struct bpf_walk_sums *sums);

/* The stack of a time was taken. */
void offcpu_place_add(struct offcpu_place *place, const struct away_time *time);

/*
 * The stack that one time is told with which was not taken: one for that lock, if there is any.
 * Each has its turn as often as its times are to those of others. NULL: the place has none.
 */
const struct away_time *offcpu_place_choose(struct offcpu_place *place, uint64_t lock);

/*
 * Shares a time between the stacks of a place, those of sleeping, each with the lock that it was
 * for, or those of waiting. Returns how many have a part of it; 0: none is known.
 */
size_t offcpu_place_share_slept(struct offcpu_place *place, struct away_sum sum,
				struct away_share shares[AWAY_STACKS]);
size_t offcpu_place_share_waited(const struct offcpu_place *place, struct away_sum sum,
				 struct away_share shares[AWAY_STACKS]);

#endif
