/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap_budget.h"

#include "preload/heap/heap.h"
#include "safe/ticks.h"

/* Number of threads with large rings, then of those with medium ones. */
#define LARGE_RINGS 4u
#define MIDDLE_RINGS 16u
#define MIDDLE_WORDS 8192u
#define SMALL_WORDS 4096u
#define LEAST_WORDS 1024u

/* Below this, no more memory is taken. */
#define LEAST_BYTES (96ull << 10)
#define SMALL_TABLES_BYTES (1ull << 20)

/* Sampling rate to save memory: large enough to help, small enough to be accurate. */
#define STEP_RATE_BYTES 16384u

#define MOST_ERRORS 100u

_Atomic uint32_t heap_level;
static _Atomic uint64_t used;

/* The rest of the limit. */
static uint64_t left_bytes(void)
{
	uint64_t most = preload.control->heap_max_bytes;
	uint64_t now = atomic_load(&used);

	if (most == 0)
		return UINT64_MAX;
	return now < most ? most - now : 0;
}

uint32_t heap_budget_most_words(uint32_t index)
{
	uint32_t words = session_ring_words(&preload.layout, index);

	if (index >= LARGE_RINGS && words > MIDDLE_WORDS)
		words = index < MIDDLE_RINGS ? MIDDLE_WORDS : SMALL_WORDS;
	return words;
}

uint32_t heap_budget_ring_words(uint32_t index)
{
	uint32_t words = heap_budget_most_words(index);
	uint64_t most = left_bytes() / 4 / sizeof(uint64_t);

	while (words > most && words > LEAST_WORDS)
		words /= 2;
	return words;
}

bool heap_budget_is_small(uint32_t index)
{
	return index >= MIDDLE_RINGS || left_bytes() < SMALL_TABLES_BYTES;
}

bool heap_budget_is_large(uint32_t index)
{
	return index < LARGE_RINGS && preload.control->heap_max_bytes == 0;
}

/* Records when a level was reached, including skipped levels before it. */
static void mark(uint32_t level)
{
	uint64_t ticks = safe_ticks();

	for (uint32_t i = 0; i < level && preload.process; i++) {
		uint64_t expected = 0;

		(void)atomic_compare_exchange_strong(&preload.process->heap_steps[i], &expected,
						     ticks);
	}
}

static uint32_t level_of(uint64_t left)
{
	uint64_t most = preload.control->heap_max_bytes;

	if (left < LEAST_BYTES)
		return SESSION_HEAP_COUNTS;
	if (left < most / 4)
		return SESSION_HEAP_TOTALS;
	/* Ranges cannot be sampled, and sampling may already be on. */
	if (left < most / 2 && !preload.control->heap_maps && !preload.control->heap_sample_bytes)
		return SESSION_HEAP_SAMPLES;
	return SESSION_HEAP_ALL;
}

void heap_budget_take(uint64_t bytes)
{
	uint32_t level = atomic_load(&heap_level);
	uint32_t next;

	(void)atomic_fetch_add(&used, bytes);
	if (preload.control->heap_max_bytes == 0)
		return;
	next = level_of(left_bytes());
	if (next <= level)
		return;
	atomic_store(&heap_level, next);
	mark(next);
	heap_step();
}

void heap_budget_resume(void)
{
	mark(atomic_load(&heap_level));
}

uint64_t heap_budget_rate(void)
{
	if (preload.control->heap_sample_bytes)
		return preload.control->heap_sample_bytes;
	return atomic_load_explicit(&heap_level, memory_order_relaxed) == SESSION_HEAP_SAMPLES
		       ? STEP_RATE_BYTES
		       : 0;
}

void heap_budget_error(void)
{
	if (!preload.process)
		return;
	if (atomic_fetch_add(&preload.process->counts[SESSION_HEAP_DAMAGED], 1) < MOST_ERRORS)
		return;
	heap_end();
	atomic_store(&preload.process->heap_steps[SESSION_HEAP_NONE - 1], safe_ticks());
}
