/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/offcpu_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

/* A place for which there is no room replaces another one, whose stacks will soon arrive again. */
#define PLACES 8192u
/* Each wait that is added makes the sums fade by this much: about the last hundred waits count. */
#define FADES 64u
/* Units of one wait: fine enough for the sums to fade. */
#define CHANCE (FADES * FADES)

/*
 * A fraction of a whole turn: steps of this size are spread evenly, regardless of how many there
 * are.
 */
#define GOLDEN_TURN UINT64_C(0x9e3779b97f4a7c15)

struct offcpu_places {
	struct offcpu_place places[PLACES];
};

struct offcpu_places *offcpu_places_new(void)
{
	return calloc(1, sizeof(struct offcpu_places));
}

void offcpu_places_free(struct offcpu_places *places)
{
	free(places);
}

void offcpu_places_clear(struct offcpu_places *places)
{
	if (places)
		memset(places, 0, sizeof(*places));
}

struct offcpu_place *offcpu_places_find(struct offcpu_places *places, uint32_t tid,
					const struct bpf_walk_sums *sums)
{
	uint64_t hash = hash_pair(hash_pair(sums->pc, sums->sp) ^ sums->calls ^ sums->lock,
				  (uint64_t)sums->state << 32 | tid);
	struct offcpu_place *place = &places->places[hash % PLACES];

	if (place->count > 0 && place->tid == tid && place->state == sums->state &&
	    place->pc == sums->pc && place->sp == sums->sp && place->calls == sums->calls &&
	    place->lock == sums->lock)
		return place;
	*place = (struct offcpu_place){.tid = tid,
				       .state = sums->state,
				       .pc = sums->pc,
				       .sp = sums->sp,
				       .calls = sums->calls,
				       .lock = sums->lock};
	return place;
}

/*
 * A new stack replaces the one with the least time. The place "anywhere" has an unlimited number of
 * stacks and locks, so there a new one replaces the oldest: otherwise the first ones would get the
 * time of all others.
 */
static struct away_time *make_room(struct offcpu_place *place)
{
	struct away_time *least = &place->stacks[0];

	if (place->count < AWAY_STACKS)
		return &place->stacks[place->count++];
	if (place->pc == 0)
		return &place->stacks[place->oldest++ % AWAY_STACKS];
	for (size_t i = 1; i < place->count; i++)
		if (place->stacks[i].slept_ns + place->stacks[i].waited_ns <
		    least->slept_ns + least->waited_ns)
			least = &place->stacks[i];
	return least;
}

void offcpu_place_add(struct offcpu_place *place, const struct away_time *time)
{
	struct away_time *known = NULL;

	for (size_t i = 0; i < place->count; i++) {
		struct away_time *stack = &place->stacks[i];

		stack->slept_ns -= stack->slept_ns / FADES;
		stack->waited_ns -= stack->waited_ns / FADES;
		stack->chance -= stack->chance / FADES;
		if (stack->slept_stack == time->slept_stack && stack->lock == time->lock &&
		    stack->waited_stack == time->waited_stack)
			known = stack;
	}
	if (!known) {
		known = make_room(place);
		*known = *time;
		known->chance = CHANCE;
		return;
	}
	known->slept_ns += time->slept_ns;
	known->waited_ns += time->waited_ns;
	known->chance += CHANCE;
}

/* The share of the turns that a stack has; 0 if another lock is requested. */
static double weight_of(const struct away_time *time, const uint64_t *lock)
{
	return lock && time->lock != *lock ? 0 : (double)time->slept_ns + 1;
}

const struct away_time *offcpu_place_choose(struct offcpu_place *place, uint64_t lock)
{
	const uint64_t *wanted = NULL;
	const struct away_time *chosen = NULL;
	double whole = 0;
	double at;

	for (size_t i = 0; i < place->count && !wanted; i++)
		wanted = place->stacks[i].lock == lock ? &lock : NULL;
	for (size_t i = 0; i < place->count; i++)
		whole += weight_of(&place->stacks[i], wanted);
	place->turn += GOLDEN_TURN;
	at = (double)(place->turn >> 11) * 0x1p-53 * whole;
	for (size_t i = 0; i < place->count && at >= 0; i++) {
		double weight = weight_of(&place->stacks[i], wanted);

		if (weight > 0)
			chosen = &place->stacks[i];
		at -= weight;
	}
	return chosen;
}

/* Adds to the share of a stack. */
static size_t add(struct away_share *shares, size_t count, const struct away_share *part)
{
	size_t i = 0;

	while (i < count && (shares[i].stack != part->stack || shares[i].lock != part->lock))
		i++;
	if (i == count)
		shares[i] = (struct away_share){
			.stack = part->stack, .lock = part->lock, .facts = part->facts};
	shares[i].ns += part->ns;
	shares[i].chance += part->chance;
	return i < count ? count : count + 1;
}

/* How many of the waits each stack gets: at least one each; the first gets the rest. */
static void share_count(struct away_share *parts, size_t count, uint64_t times)
{
	uint64_t free_times = times > count ? times - count : 0;
	uint64_t left = free_times;
	double whole = 0;

	for (size_t i = 0; i < count; i++)
		whole += (double)parts[i].chance;
	for (size_t i = 0; i < count; i++) {
		uint64_t more =
			whole > 0
				? (uint64_t)((double)free_times * ((double)parts[i].chance / whole))
				: 0;

		more = more < left ? more : left;
		parts[i].count = 1 + more;
		left -= more;
	}
	if (count > 0)
		parts[0].count += left;
}

/* `parts` are the times of the stacks; the first gets what rounding leaves. */
static size_t share(struct away_share *parts, size_t count, struct away_sum sum)
{
	uint64_t left_ns = sum.ns;
	double whole = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		whole += (double)parts[i].ns;
	for (size_t i = 0; i < count; i++) {
		double part = whole > 0 ? (double)parts[i].ns / whole : 1.0 / (double)count;
		uint64_t part_ns = (uint64_t)((double)sum.ns * part);

		parts[i].ns = part_ns < left_ns ? part_ns : left_ns;
		left_ns -= parts[i].ns;
	}
	if (count > 0)
		parts[0].ns += left_ns;
	for (size_t i = 0; i < count; i++)
		if (parts[i].ns > 0)
			parts[kept++] = parts[i];
	share_count(parts, kept, sum.count);
	return kept;
}

size_t offcpu_place_share_slept(struct offcpu_place *place, struct away_sum sum,
				struct away_share shares[AWAY_STACKS])
{
	uint64_t told = sum.count;
	uint64_t paid = place->owed < sum.count ? place->owed : sum.count;
	uint64_t given = 0;
	size_t count = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct away_time *time = &place->stacks[i];

		count = add(shares, count,
			    &(struct away_share){.stack = time->slept_stack,
						 .lock = time->lock,
						 .ns = time->slept_ns,
						 .chance = time->chance,
						 .facts = time->facts});
	}
	/* If there are more shares than waits, the next ones give some back. */
	sum.count -= paid;
	count = share(shares, count, sum);
	for (size_t i = 0; i < count; i++) {
		/* A sum that cannot be a single wait must not look like one. */
		if (shares[i].count == 1 && sum.longest_ns > 0 && shares[i].ns > sum.longest_ns)
			shares[i].count = 2;
		given += shares[i].count;
	}
	if (count > 0)
		place->owed = place->owed + given - told;
	return count;
}

size_t offcpu_place_share_waited(const struct offcpu_place *place, struct away_sum sum,
				 struct away_share shares[AWAY_STACKS])
{
	size_t count = 0;

	for (size_t i = 0; i < place->count; i++) {
		const struct away_time *time = &place->stacks[i];

		count = add(shares, count,
			    &(struct away_share){.stack = time->waited_stack,
						 .ns = time->waited_ns,
						 .chance = time->chance,
						 .facts = time->facts});
	}
	return share(shares, count, sum);
}
