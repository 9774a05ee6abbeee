/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/away_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "wire/bpf_away.h"
#include "wire/bpf_walk.h"

/* A place for which there is no room takes that of another; its stacks come again soon. */
#define PLACES 8192u
/* Each time that is added, sums lose so much: those of the last hundred or so count. */
#define FADES 64u

struct away_places {
	struct away_place places[PLACES];
};

struct away_places *away_places_new(void)
{
	return calloc(1, sizeof(struct away_places));
}

void away_places_free(struct away_places *places)
{
	free(places);
}

void away_places_clear(struct away_places *places)
{
	if (places)
		memset(places, 0, sizeof(*places));
}

struct away_place *away_places_find(struct away_places *places, uint32_t tid,
				    const struct bpf_walk_sums *sums)
{
	uint64_t hash = hash_pair(hash_pair(sums->pc, sums->sp) ^ sums->calls,
				  (uint64_t)sums->state << 32 | tid);
	struct away_place *place = &places->places[hash % PLACES];

	if (place->count > 0 && place->tid == tid && place->state == sums->state &&
	    place->pc == sums->pc && place->sp == sums->sp && place->calls == sums->calls)
		return place;
	*place = (struct away_place){.tid = tid,
				     .state = sums->state,
				     .pc = sums->pc,
				     .sp = sums->sp,
				     .calls = sums->calls};
	return place;
}

/* The stack with the least time makes room for a new one. */
static struct away_time *make_room(struct away_place *place)
{
	struct away_time *least = &place->stacks[0];

	if (place->count < AWAY_STACKS)
		return &place->stacks[place->count++];
	for (size_t i = 1; i < place->count; i++)
		if (place->stacks[i].slept_ns + place->stacks[i].waited_ns <
		    least->slept_ns + least->waited_ns)
			least = &place->stacks[i];
	return least;
}

void away_place_add(struct away_place *place, const struct away_time *time)
{
	struct away_time *known = NULL;

	for (size_t i = 0; i < place->count; i++) {
		struct away_time *stack = &place->stacks[i];

		stack->slept_ns -= stack->slept_ns / FADES;
		stack->waited_ns -= stack->waited_ns / FADES;
		if (stack->slept_stack == time->slept_stack &&
		    stack->waited_stack == time->waited_stack)
			known = stack;
	}
	if (!known) {
		*make_room(place) = *time;
		return;
	}
	known->slept_ns += time->slept_ns;
	known->waited_ns += time->waited_ns;
}

/* Adds to the share of a stack. */
static size_t add(struct away_share *shares, size_t count, uint32_t stack, uint64_t ns)
{
	size_t i = 0;

	while (i < count && shares[i].stack != stack)
		i++;
	if (i == count)
		shares[i] = (struct away_share){.stack = stack};
	shares[i].ns += ns;
	return i < count ? count : count + 1;
}

/* `parts` are the times of the stacks; what rounding leaves goes to the first one. */
static size_t share(struct away_share *parts, size_t count, uint64_t ns)
{
	uint64_t left_ns = ns;
	double whole = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		whole += (double)parts[i].ns;
	for (size_t i = 0; i < count; i++) {
		double part = whole > 0 ? (double)parts[i].ns / whole : 1.0 / (double)count;
		uint64_t part_ns = (uint64_t)((double)ns * part);

		parts[i].ns = part_ns < left_ns ? part_ns : left_ns;
		left_ns -= parts[i].ns;
	}
	if (count > 0)
		parts[0].ns += left_ns;
	for (size_t i = 0; i < count; i++)
		if (parts[i].ns > 0)
			parts[kept++] = parts[i];
	return kept;
}

size_t away_place_share_slept(const struct away_place *place, uint64_t ns,
			      struct away_share shares[AWAY_STACKS])
{
	size_t count = 0;

	for (size_t i = 0; i < place->count; i++)
		count = add(shares, count, place->stacks[i].slept_stack, place->stacks[i].slept_ns);
	return share(shares, count, ns);
}

size_t away_place_share_waited(const struct away_place *place, uint64_t ns,
			       struct away_share shares[AWAY_STACKS])
{
	size_t count = 0;

	for (size_t i = 0; i < place->count; i++)
		count = add(shares, count, place->stacks[i].waited_stack,
			    place->stacks[i].waited_ns);
	return share(shares, count, ns);
}
