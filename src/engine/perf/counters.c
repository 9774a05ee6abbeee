/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/counters.h"

#include <errno.h>

#define ENDED (-1) /* the thread of an entry that is no longer counted */

/* The number of entries of ended threads from which removing them is worthwhile. */
#define ENDED_MAX 4096u

void counters_fini(struct counters *counters)
{
	vec_fini(&counters->items);
	id_index_fini(&counters->index);
}

static uint64_t hash_of(pid_t tid, uint32_t cpu)
{
	return hash_pair((uint64_t)tid, cpu);
}

static struct counted *find(struct counters *counters, pid_t tid, uint32_t cpu)
{
	struct id_probe probe = id_index_probe(&counters->index, hash_of(tid, cpu));
	uint32_t i;

	while ((i = id_probe_next(&counters->index, &probe)) != ID_NONE)
		if (counters->items.items[i].tid == tid && counters->items.items[i].cpu == cpu)
			return &counters->items.items[i];
	return NULL;
}

int counters_since(struct counters *counters, pid_t tid, uint32_t cpu, uint64_t *values,
		   size_t count)
{
	struct counted *counted = find(counters, tid, cpu);

	if (!counted) {
		struct counted fresh = {.tid = tid, .cpu = cpu};

		if (vec_push(&counters->items, fresh) < 0)
			return -ENOMEM;
		if (id_index_add(&counters->index, hash_of(tid, cpu),
				 (uint32_t)counters->items.count - 1) < 0) {
			counters->items.count--;
			return -ENOMEM;
		}
		counted = &counters->items.items[counters->items.count - 1];
	}
	for (size_t i = 0; i < count && i < EVENT_MEMBERS_MAX; i++) {
		uint64_t now = values[i];

		values[i] = now >= counted->last[i] ? now - counted->last[i] : now;
		counted->last[i] = now;
	}
	return 0;
}

/* Removes the entries of threads that have ended. */
static void compact(struct counters *counters)
{
	size_t kept = 0;

	id_index_clear(&counters->index);
	for (size_t i = 0; i < counters->items.count; i++) {
		struct counted item = counters->items.items[i];

		if (item.tid == ENDED)
			continue;
		counters->items.items[kept] = item;
		/* There was room for more than these. */
		(void)id_index_add(&counters->index, hash_of(item.tid, item.cpu), (uint32_t)kept);
		kept++;
	}
	counters->items.count = kept;
	counters->ended = 0;
}

void counters_forget(struct counters *counters, pid_t tid, const int *cpus, size_t cpu_count)
{
	for (size_t i = 0; i < cpu_count; i++) {
		struct counted *counted = find(counters, tid, (uint32_t)cpus[i]);

		if (!counted)
			continue;
		counted->tid = ENDED;
		counters->ended++;
	}
	if (counters->ended > ENDED_MAX)
		compact(counters);
}
