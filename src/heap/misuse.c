/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/misuse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_seed.h"
#include "base/id_index.h"
#include "heap/clock_skew.h"
#include "heap/event_order.h"
#include "heap/live_blocks.h"
#include "heap/sites.h"
#include "model/dictionary.h"

#define HASH_BITS 16u

_Static_assert(HEAP_FREES_KEPT == 1u << HASH_BITS, "one list for each that is kept, on average");

void heap_misuses_fini(struct heap_misuses *misuses)
{
	vec_fini(&misuses->groups);
	free(misuses->freed);
	free(misuses->last);
}

static size_t hash_of(uint32_t space, uint64_t address)
{
	uint64_t mixed =
		(address ^ (uint64_t)space << 46 ^ hash_seed.first) * (hash_seed.second | 1);

	return (size_t)((mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u >> (64 - HASH_BITS));
}

static int make_room(struct heap_misuses *misuses)
{
	if (!misuses->freed)
		misuses->freed = malloc(HEAP_FREES_KEPT * sizeof(*misuses->freed));
	if (!misuses->last)
		misuses->last = calloc(HEAP_FREES_KEPT, sizeof(*misuses->last));
	return misuses->freed && misuses->last ? 0 : -ENOMEM;
}

static uint32_t stack_of(const struct heap_block *block, const struct heap_sites *sites)
{
	return block->share == ID_NONE
		       ? ID_NONE
		       : sites->sites.items[sites->shares.items[block->share].site].stack;
}

static int remember(struct heap_misuses *misuses, const struct heap_freed *freed)
{
	size_t hash = hash_of(freed->space, freed->address);
	struct heap_freed *to;

	if (make_room(misuses) < 0)
		return -ENOMEM;
	to = &misuses->freed[misuses->freed_count % HEAP_FREES_KEPT];
	*to = *freed;
	to->before = misuses->last[hash];
	misuses->last[hash] = ++misuses->freed_count;
	return 0;
}

int heap_misuses_freed(struct heap_misuses *misuses, const struct heap_event *event,
		       const struct heap_block *block, const struct heap_sites *sites,
		       uint64_t time_ns)
{
	return remember(misuses, &(struct heap_freed){
					 .address = event->address,
					 .size = block->size,
					 .time_ns = time_ns,
					 .space = block->space,
					 .stack = event->stack,
					 .allocated_stack = stack_of(block, sites),
					 .thread = heap_event_thread(event),
				 });
}

/* Whether a thread belongs to a process that was forked without exec. */
static bool is_forked(const struct dictionary *dictionary, uint32_t thread)
{
	uint32_t id = dictionary->threads.items[thread].process;
	const struct process *process;

	if (id >= dictionary->processes.count)
		return false;
	process = &dictionary->processes.items[id];
	for (size_t i = 0; process->exec_count == 0 && i < dictionary->processes.count; i++)
		if (dictionary->processes.items[i].pid == process->parent_pid)
			return true;
	return false;
}

/* The last free of an address; NULL: unknown. Old frees have been overwritten. */
static const struct heap_freed *find(const struct heap_misuses *misuses, uint32_t space,
				     uint64_t address)
{
	uint64_t number = misuses->last ? misuses->last[hash_of(space, address)] : 0;

	while (number > 0 && number + HEAP_FREES_KEPT > misuses->freed_count) {
		const struct heap_freed *freed = &misuses->freed[(number - 1) % HEAP_FREES_KEPT];

		if (freed->address == address && freed->space == space)
			return freed;
		number = freed->before;
	}
	return NULL;
}

static bool is_alike(const struct heap_misuse *one, const struct heap_misuse *other)
{
	return one->kind == other->kind && one->stack == other->stack &&
	       one->freed_stack == other->freed_stack &&
	       one->allocated_stack == other->allocated_stack;
}

static int add_to_group(struct heap_misuses *misuses, const struct heap_misuse *misuse)
{
	for (size_t i = 0; i < misuses->groups.count; i++)
		if (is_alike(&misuses->groups.items[i], misuse)) {
			misuses->groups.items[i].count++;
			return 0;
		}
	if (misuses->groups.count == HEAP_MISUSES) {
		misuses->left_out++;
		return 0;
	}
	return vec_push(&misuses->groups, *misuse);
}

/* The first waiting ones are real misuses. */
static int settle(struct heap_misuses *misuses, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = add_to_group(misuses, &misuses->waiting[i].misuse);
	misuses->waiting_count -= count;
	memmove(misuses->waiting, misuses->waiting + count,
		misuses->waiting_count * sizeof(*misuses->waiting));
	return r;
}

/* Settles those that have waited longer than the clock skew, and one if there is no space. */
static int settle_old(struct heap_misuses *misuses, uint64_t time_ns)
{
	size_t count = 0;

	while (count < misuses->waiting_count &&
	       misuses->waiting[count].misuse.time_ns + HEAP_CLOCK_SKEW_NS < time_ns)
		count++;
	if (count == 0 && misuses->waiting_count == HEAP_MISUSES_WAITING)
		count = 1;
	return count > 0 ? settle(misuses, count) : 0;
}

int heap_misuses_unmatched(struct heap_misuses *misuses, const struct dictionary *dictionary,
			   const struct heap_event *event, const struct heap_half *half)
{
	const struct heap_freed *freed = find(misuses, half->space, event->address);
	struct heap_misuse misuse = {
		.kind = freed ? HEAP_DOUBLE_FREE : HEAP_FOREIGN_FREE,
		.stack = event->stack,
		.freed_stack = freed ? freed->stack : ID_NONE,
		.allocated_stack = freed ? freed->allocated_stack : ID_NONE,
		.count = 1,
		.address = event->address,
		.size = freed ? freed->size : 0,
		.time_ns = half->time_ns,
		.freed_ns = freed ? freed->time_ns : 0,
		.thread = half->thread,
		.freed_thread = freed ? freed->thread : ID_NONE,
		.op = event->op,
		.call = event->call,
	};
	int r = settle_old(misuses, half->time_ns);

	if (!freed && is_forked(dictionary, half->thread))
		return remember(misuses, &(struct heap_freed){.address = event->address,
							      .time_ns = half->time_ns,
							      .space = half->space,
							      .stack = event->stack,
							      .allocated_stack = ID_NONE,
							      .thread = half->thread});
	misuses->waiting[misuses->waiting_count++] = (struct heap_unmatched){misuse, half->space};
	return r;
}

void heap_misuses_matched(struct heap_misuses *misuses, uint32_t space, uint64_t address)
{
	for (size_t i = 0; i < misuses->waiting_count; i++)
		if (misuses->waiting[i].space == space &&
		    misuses->waiting[i].misuse.address == address) {
			misuses->waiting_count--;
			memmove(&misuses->waiting[i], &misuses->waiting[i + 1],
				(misuses->waiting_count - i) * sizeof(*misuses->waiting));
			return;
		}
}

int heap_misuses_finish(struct heap_misuses *misuses)
{
	return settle(misuses, misuses->waiting_count);
}
