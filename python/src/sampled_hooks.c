/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocators of the three domains when blocks are sampled.
 *
 * A countdown says when the next block is to be recorded: in bytes, or in blocks. The hooks of
 * "mem" and "object" share one, which the GIL protects; "raw" has one for each thread. A small
 * table says for each page whether it may have recorded blocks, so that most frees look no further.
 */
#include <math.h>
#include <sys/random.h>

#include "record.h"
#include "safe/exponential.h"

/* Larger requests are passed on to the domain "raw": they would be counted twice. */
#define SMALL_BYTES 512
#define FILTER_BITS 16

static struct {
	int64_t left; /* until the next block of "mem" and "object" */
	uint64_t mean;
	bool is_by_blocks;
	_Atomic uint64_t random;
	_Atomic uint8_t filter[1 << FILTER_BITS]; /* recorded blocks in such pages; 255: many */
} sampled;

static const PyMemAllocatorEx *real_of(void *context)
{
	return context;
}

/* Neighbouring pages have neighbouring places, so that few lines of the cache are used. */
static uint32_t filter_place(const void *block)
{
	return (uint32_t)((uintptr_t)block >> 12) & ((1u << FILTER_BITS) - 1);
}

bool sampled_may_know(const void *block)
{
	return atomic_load_explicit(&sampled.filter[filter_place(block)], memory_order_relaxed);
}

void sampled_add(const void *block)
{
	_Atomic uint8_t *count = &sampled.filter[filter_place(block)];
	uint8_t old = atomic_load_explicit(count, memory_order_relaxed);

	while (old < UINT8_MAX && !atomic_compare_exchange_weak(count, &old, old + 1))
		;
}

/* A count that has reached its maximum stays there, because the true count is unknown. */
void sampled_remove(const void *block)
{
	_Atomic uint8_t *count = &sampled.filter[filter_place(block)];
	uint8_t old = atomic_load_explicit(count, memory_order_relaxed);

	while (old > 0 && old < UINT8_MAX && !atomic_compare_exchange_weak(count, &old, old - 1))
		;
}

static int64_t next_left(void)
{
	/* splitmix64: a step and a mix. */
	uint64_t x = atomic_fetch_add_explicit(&sampled.random, 0x9e3779b97f4a7c15ull,
					       memory_order_relaxed);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	if (!sampled.is_by_blocks)
		return (int64_t)exponential_step(sampled.mean, x);
	/* The number of blocks up to and including the next recorded one. */
	return (int64_t)(1 + floor(log(((double)(x >> 11) + 1) * 0x1p-53) /
				   log1p(-tracer.settings.probability)));
}

double sampled_probability(uint64_t size)
{
	if (tracer.settings.probability > 0)
		return tracer.settings.probability;
	return -expm1(-((double)size + 1) / tracer.settings.sampling_bytes);
}

static bool is_recorded(void)
{
	return !(tracer_thread.state & (THREAD_OWN | THREAD_EXCLUDED)) &&
	       atomic_load_explicit(&tracer.is_tracing, memory_order_relaxed);
}

static void record(PyThreadState *thread, bool holds_gil, void *block, size_t size)
{
	if (!block || !is_recorded())
		return;
	sampled_add(block);
	record_allocation(&tracer.tables[TABLE_LOCKED], thread, holds_gil, block, size);
}

static void __attribute__((noinline)) forget(void *block)
{
	struct trace_block freed;

	if (record_free(&tracer.tables[TABLE_LOCKED], block, &freed))
		sampled_remove(block);
}

static void __attribute__((noinline)) object_sampled(void *block, size_t size, int64_t *left)
{
	*left = next_left();
	record(version_current_thread(), true, block, size);
}

/* What a block takes from the countdown; an empty one is sampled too. */
static int64_t cost_of(size_t size)
{
	return sampled.is_by_blocks ? 1 : (int64_t)size + 1;
}

/* A request that may reach the domain "raw", or whose block is to be recorded. */
static void *__attribute__((noinline))
object_malloc_slowly(const PyMemAllocatorEx *real, size_t size, bool is_due)
{
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real->malloc(real->ctx, size);

	tracer_thread.state = outer;
	if (is_due && !(outer & THREAD_NESTED))
		object_sampled(block, size, &sampled.left);
	return block;
}

static void *object_malloc_by_bytes(void *context, size_t size)
{
	const PyMemAllocatorEx *real = real_of(context);
	int64_t left = sampled.left - (int64_t)size - 1;

	sampled.left = left;
	if (__builtin_expect(left > 0 && size <= SMALL_BYTES, 1))
		return real->malloc(real->ctx, size);
	return object_malloc_slowly(real, size, left <= 0);
}

static void *object_malloc_by_blocks(void *context, size_t size)
{
	const PyMemAllocatorEx *real = real_of(context);
	int64_t left = --sampled.left;

	if (__builtin_expect(left > 0 && size <= SMALL_BYTES, 1))
		return real->malloc(real->ctx, size);
	return object_malloc_slowly(real, size, left <= 0);
}

/* Used if C code's blocks are seen too: every request that is passed on is marked. */
static void *object_malloc_marked(void *context, size_t size)
{
	int64_t left = sampled.left - cost_of(size);

	sampled.left = left;
	return object_malloc_slowly(real_of(context), size, left <= 0);
}

static void *object_calloc(void *context, size_t count, size_t size)
{
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real->calloc(real->ctx, count, size);

	tracer_thread.state = outer;
	sampled.left -= cost_of(count * size);
	if (sampled.left <= 0 && !(outer & THREAD_NESTED))
		object_sampled(block, count * size, &sampled.left);
	return block;
}

static void *reallocate(const PyMemAllocatorEx *real, void *old, size_t size)
{
	struct tracer_table *table = &tracer.tables[TABLE_LOCKED];
	struct trace_block freed;
	bool is_known = old && sampled_may_know(old) && record_free(table, old, &freed);
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real->realloc(real->ctx, old, size);

	tracer_thread.state = outer;
	if (is_known && !block)
		record_restore(table, &freed);
	else if (is_known)
		sampled_remove(old);
	return block;
}

static void *object_realloc(void *context, void *old, size_t size)
{
	void *block;

	if ((tracer_thread.state & THREAD_NESTED))
		return real_of(context)->realloc(real_of(context)->ctx, old, size);
	block = reallocate(real_of(context), old, size);
	sampled.left -= cost_of(size);
	if (sampled.left <= 0)
		object_sampled(block, size, &sampled.left);
	return block;
}

static void any_free(void *context, void *block)
{
	const PyMemAllocatorEx *real = real_of(context);

	if (__builtin_expect(sampled_may_know(block), 0))
		forget(block);
	real->free(real->ctx, block);
}

bool sampled_is_due(size_t size)
{
	tracer_thread.left_bytes -= cost_of(size);
	if (tracer_thread.left_bytes > 0)
		return false;
	tracer_thread.left_bytes = next_left();
	return true;
}

static void any_free_marked(void *context, void *block)
{
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);

	any_free(context, block);
	tracer_thread.state = outer;
}

static void raw_sampled(void *block, size_t size)
{
	PyThreadState *own;
	bool holds_gil;

	if (!sampled_is_due(size) || !block || !is_recorded())
		return;
	own = record_own_thread(&holds_gil);
	record(own, holds_gil, block, size);
}

/* If C code's blocks are seen too, this one must not count as one of them. */
static void *raw_malloc(void *context, size_t size)
{
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real_of(context)->malloc(real_of(context)->ctx, size);

	tracer_thread.state = outer;
	if (!(outer & THREAD_NESTED))
		raw_sampled(block, size);
	return block;
}

static void *raw_calloc(void *context, size_t count, size_t size)
{
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real_of(context)->calloc(real_of(context)->ctx, count, size);

	tracer_thread.state = outer;
	if (!(outer & THREAD_NESTED))
		raw_sampled(block, count * size);
	return block;
}

static void *raw_realloc(void *context, void *old, size_t size)
{
	void *block;

	if ((tracer_thread.state & THREAD_NESTED))
		return real_of(context)->realloc(real_of(context)->ctx, old, size);
	block = reallocate(real_of(context), old, size);
	raw_sampled(block, size);
	return block;
}

void sampled_hooks_functions(PyMemAllocatorDomain domain, PyMemAllocatorEx *allocator)
{
	bool is_by_blocks = tracer.settings.probability > 0;

	allocator->malloc = is_by_blocks ? object_malloc_by_blocks : object_malloc_by_bytes;
	allocator->calloc = object_calloc;
	allocator->realloc = object_realloc;
	allocator->free = any_free;
	if (tracer.settings.native_max > 0) {
		allocator->malloc = object_malloc_marked;
		allocator->free = any_free_marked;
	}
	if (domain != PYMEM_DOMAIN_RAW)
		return;
	allocator->malloc = raw_malloc;
	allocator->calloc = raw_calloc;
	allocator->realloc = raw_realloc;
}

void sampled_hooks_begin(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = safe_ticks();
	atomic_store(&sampled.random, seed);
	sampled.is_by_blocks = tracer.settings.probability > 0;
	sampled.mean = (uint64_t)tracer.settings.sampling_bytes;
	sampled.left = next_left();
	sampled_hooks_end();
}

/* All recorded blocks are forgotten. */
void sampled_hooks_end(void)
{
	for (uint32_t i = 0; i < 1u << FILTER_BITS; i++)
		atomic_store_explicit(&sampled.filter[i], 0, memory_order_relaxed);
}
