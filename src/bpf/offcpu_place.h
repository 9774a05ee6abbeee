/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_OFFCPU_PLACE_H
#define WICK_BPF_OFFCPU_PLACE_H

/*
 * offcpu_place: decides when the stack of a thread that leaves its CPU is taken.
 *
 * A busy server leaves its CPU a hundred thousand times a second, always from the same few places:
 * program counter, stack pointer and the lock that it waits for are the same. At such a place a
 * stack is taken about once in away_gap_ns, at random among the times, so that each has the same
 * chance; the other times are summed, and the sums are sent with the next stack of the place. So no
 * time is missing, even if it is short; only the distribution of a place's time among the stacks
 * that lead to it is an estimate.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/offcpu_calls.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

/* How many times at a place are skipped at most, and by what factor that may grow at once. */
#define MOST_SKIPPED 65536ull
#define GROWS_BY 4ull
/* Programs may have thousands of locks, all taken at one place. */
#define LOCK_PRICE 4u

/* Where a thread leaves its CPU: in its program, and why. */
struct position {
	uint64_t pc;
	uint64_t sp;
	uint64_t lock; /* that it waits for; 0: none */
	uint32_t state;
	uint32_t zero; /* older kernels do not pass on memory that was not set */
};

/* Sends the sums of a place. They are kept if there is no room. */
static __noinline int send_sums(void *ctx, struct bpf_walk_away *from, uint32_t index)
{
	struct bpf_walk_place *place;

	if (index >= BPF_WALK_PLACES)
		return -1;
	place = &from->places[index];
	from->head.kind = BPF_WALK_AWAY_SUMS;
	from->head.kernel_count = 0;
	from->head.user_count = 0;
	from->sums = place->sums;
	if (bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &from->head,
				  BPF_WALK_AWAY_BYTES) < 0) {
		count(BPF_WALK_COUNT_LOST);
		return -1;
	}
	place->sums.count = 0;
	place->sums.slept_ns = 0;
	place->sums.waited_ns = 0;
	place->sums.longest_ns = 0;
	return 0;
}

/*
 * Stacks of new places are taken at once, unless a thread has too many of them. `price` is how many
 * other places this one counts as.
 */
static __always_inline bool may_take_new(struct bpf_walk_away *from, uint64_t now_ns,
					 uint32_t price)
{
	uint64_t gap_ns = away_gap_ns / 8;
	uint64_t forgiven;

	if (gap_ns == 0)
		return true;
	forgiven = (now_ns - from->forgiven_ns) / gap_ns;
	if (forgiven > 0) {
		from->new_taken = forgiven < from->new_taken ? from->new_taken - forgiven : 0;
		from->forgiven_ns = now_ns;
	}
	if (from->new_taken >= BPF_WALK_NEW_PLACES)
		return false;
	from->new_taken += price;
	return true;
}

/* After a stack was taken: chooses how many times to skip, on average the number in a gap. */
static __always_inline void choose_next(struct bpf_walk_place *place, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - place->taken_ns;
	uint64_t wanted = 0;

	if (place->taken_ns != 0 && elapsed_ns > 0)
		wanted = (place->seen + 1ull) * away_gap_ns / elapsed_ns;
	if (wanted > MOST_SKIPPED)
		wanted = MOST_SKIPPED;
	/* It may grow by this factor at once: a few in a row may be chance. */
	if (wanted > (place->seen + 1ull) * GROWS_BY)
		wanted = (place->seen + 1ull) * GROWS_BY;
	place->skip = wanted > 1 ? bpf_get_prandom_u32() % (2 * (uint32_t)wanted - 1) : 0;
	place->seen = 0;
	place->taken_ns = now_ns;
}

/* The next stack is taken: threads that become slow are noticed again. */
static __always_inline void force_next(struct bpf_walk_place *place)
{
	place->sums.forced = place->skip > 0;
	place->skip = 0;
}

/* Whether the stack is due at a known place. */
static __always_inline bool is_due(struct bpf_walk_place *place, uint64_t now_ns)
{
	if (place->skip > 0 && away_gap_ns != 0) {
		place->skip--;
		place->seen++;
		return false;
	}
	choose_next(place, now_ns);
	return true;
}

/* Whether a thread is at a place. If no return addresses were found there, none are compared. */
GLOBAL int is_at(const struct scratch *scratch, const struct bpf_walk_place *place,
		 const struct position *at)
{
	if (!scratch || !place || !at)
		return 0;
	return place->sums.pc == at->pc && place->sums.sp == at->sp &&
	       place->sums.state == at->state && place->sums.lock == at->lock &&
	       (!place->has_calls || place->sums.calls == hash_calls(scratch, place));
}

/* A new place replaces another one. False: there are too many. */
static __always_inline bool begin_place(void *ctx, struct bpf_walk_away *from, uint32_t index,
					const struct position *at, uint64_t now_ns)
{
	struct bpf_walk_place *place = &from->places[index & (BPF_WALK_COMMON_PLACES - 1)];

	if (!may_take_new(from, now_ns, at->lock != 0 ? LOCK_PRICE : 1) ||
	    (place->sums.count > 0 && send_sums(ctx, from, index) < 0))
		return false;
	place->sums.pc = at->pc;
	place->sums.sp = at->sp;
	place->sums.lock = at->lock;
	place->sums.state = at->state;
	place->sums.forced = false;
	place->taken_ns = 0;
	place->seen = place->skip = 0;
	place->sums.calls = 0;
	place->has_calls = false;
	return true;
}

/*
 * The place of a wait for a lock, or the least recently used one: a thread that waits for a few
 * locks in turn keeps all of them, regardless of their hashes.
 */
static __always_inline uint32_t find_lock_place(const struct bpf_walk_away *from,
						const struct position *at)
{
	uint32_t oldest = 0;

#pragma unroll
	for (uint32_t i = 0; i < BPF_WALK_COMMON_PLACES; i++) {
		const struct bpf_walk_sums *sums = &from->places[i].sums;

		if (sums->lock == at->lock && sums->pc == at->pc && sums->sp == at->sp)
			return i;
		if (from->places[i].taken_ns <
		    from->places[oldest & (BPF_WALK_COMMON_PLACES - 1)].taken_ns)
			oldest = i;
	}
	return oldest;
}

/*
 * Finds the place that a thread leaves from: there are two for each hash, and the less recently
 * used one makes room. Kernel threads, preempted threads, which may be anywhere, and threads with
 * ever new places have one place for each state.
 */
static __always_inline struct bpf_walk_place *enter_place(void *ctx, struct scratch *scratch,
							  struct bpf_walk_away *from,
							  const struct position *at,
							  uint64_t now_ns)
{
	uint64_t hash = (at->pc ^ (at->sp >> 3) ^ ((uint64_t)at->state << 7)) * HASH_FACTOR;
	uint32_t index = (uint32_t)(hash >> 61) & (BPF_WALK_COMMON_PLACES - 1);
	struct bpf_walk_place *place;
	struct bpf_walk_place *other;

	if (at->lock != 0)
		index = find_lock_place(from, at) & (BPF_WALK_COMMON_PLACES - 1);
	place = &from->places[index];
	other = &from->places[index ^ 1];
	from->place = index;
	if (at->pc != 0 && is_at(scratch, place, at))
		return place;
	from->place = index ^ 1;
	if (at->pc != 0 && is_at(scratch, other, at))
		return other;
	if (place->taken_ns < other->taken_ns || at->lock != 0)
		from->place = index;
	if (at->pc != 0 && begin_place(ctx, from, from->place, at, now_ns))
		return &from->places[from->place & (BPF_WALK_COMMON_PLACES - 1)];
	from->place = BPF_WALK_COMMON_PLACES + (at->state & 3);
	place = &from->places[BPF_WALK_COMMON_PLACES + (at->state & 3)];
	place->sums.state = at->state;
	return place;
}

#endif
