/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocators of the three domains when every block is recorded.
 *
 * Python passes requests on from one domain to another: a large object is allocated by the domain
 * "raw". Only the first domain that is asked records the block.
 */
#include <errno.h>

#include "record.h"
#include "simple_record.h"

#define DOMAINS 3

PyMemAllocatorEx hooks_real[DOMAINS];
__thread struct tracer_thread tracer_thread __attribute__((tls_model("initial-exec")));

static const PyMemAllocatorDomain domains[DOMAINS] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
						      PYMEM_DOMAIN_OBJ};
static PyMemAllocatorEx hooked[DOMAINS];
/*
 * Whether ours are installed. They stay while others have hooks on top of them, and then only pass
 * requests on.
 */
static bool is_left[DOMAINS];

static const PyMemAllocatorEx *real_of(void *context)
{
	return context;
}

static bool is_recorded(const struct tracer_thread *thread)
{
	return thread->state == 0 && atomic_load_explicit(&tracer.is_tracing, memory_order_relaxed);
}

static inline void record_now(struct tracer_thread *thread, void *block, size_t size)
{
	if (__builtin_expect(tracer.is_simple, 1))
		record_simply(block, size);
	else if (is_recorded(thread))
		record_allocation(&tracer.tables[TABLE_GIL], version_current_thread(), true, block,
				  size);
}

static inline void forget_now(void *block)
{
	struct trace_block freed;

	if (__builtin_expect(tracer.is_simple, 1))
		record_free_simply(block);
	else
		(void)record_free(&tracer.tables[TABLE_GIL], block, &freed);
}

static bool is_timed(void)
{
	return __builtin_expect(++tracer.hook_calls % HOOK_TIMED == 0, 0);
}

static void __attribute__((noinline))
record_timed(struct tracer_thread *thread, void *block, size_t size)
{
	uint64_t ticks = safe_ticks();

	record_now(thread, block, size);
	tracer.hook_ticks += safe_ticks() - ticks;
}

static void __attribute__((noinline)) forget_timed(void *block)
{
	uint64_t ticks = safe_ticks();

	forget_now(block);
	tracer.hook_ticks += safe_ticks() - ticks;
}

static inline void record_object(struct tracer_thread *thread, void *block, size_t size)
{
	if (!block || thread->state != 0)
		return;
	tracer.newest = (uintptr_t)block;
	if (is_timed())
		record_timed(thread, block, size);
	else
		record_now(thread, block, size);
}

static void *object_malloc(void *context, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = thread->state;
	void *block;

	thread->state = outer | THREAD_NESTED;
	block = real->malloc(real->ctx, size);
	thread->state = outer;
	record_object(thread, block, size);
	return block;
}

static void *object_calloc(void *context, size_t count, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = thread->state;
	void *block;

	thread->state = outer | THREAD_NESTED;
	block = real->calloc(real->ctx, count, size);
	thread->state = outer;
	record_object(thread, block, count * size);
	return block;
}

/*
 * Forgets a block before it is released, because another thread may get its address at once. If it
 * cannot be resized, it is added back.
 */
static void *reallocate(struct tracer_table *table, void *context, void *old, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	struct trace_block freed;
	bool is_known = old && record_free(table, old, &freed);
	uint32_t outer = thread->state;
	void *block;

	thread->state = outer | THREAD_NESTED;
	block = real->realloc(real->ctx, old, size);
	thread->state = outer;
	if (!block && is_known)
		record_restore(table, &freed);
	return block;
}

static void *object_realloc(void *context, void *old, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	void *block;

	if (thread->state & THREAD_NESTED)
		return real_of(context)->realloc(real_of(context)->ctx, old, size);
	block = reallocate(&tracer.tables[TABLE_GIL], context, old, size);
	record_object(thread, block, size);
	return block;
}

static void object_free(void *context, void *block)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = thread->state;

	/* Also if the tracer itself frees: the block may be one that the program allocated. */
	if (block && !(outer & THREAD_NESTED)) {
		if (is_timed())
			forget_timed(block);
		else
			forget_now(block);
	}
	thread->state = outer | THREAD_NESTED;
	real->free(real->ctx, block);
	thread->state = outer;
}

static void record_raw(struct tracer_thread *thread, void *block, size_t size)
{
	PyThreadState *own;
	bool holds_gil;

	if (!block || !is_recorded(thread))
		return;
	atomic_fetch_add_explicit(&tracer.raw_calls, 1, memory_order_relaxed);
	own = record_own_thread(&holds_gil);
	record_allocation(&tracer.tables[TABLE_LOCKED], own, holds_gil, block, size);
}

static void *raw_malloc(void *context, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real->malloc(real->ctx, size);

	thread->state = outer;
	record_raw(thread, block, size);
	return block;
}

static void *raw_calloc(void *context, size_t count, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	const PyMemAllocatorEx *real = real_of(context);
	uint32_t outer = tracer_thread_enter(THREAD_NESTED);
	void *block = real->calloc(real->ctx, count, size);

	thread->state = outer;
	record_raw(thread, block, count * size);
	return block;
}

static void *raw_realloc(void *context, void *old, size_t size)
{
	struct tracer_thread *thread = &tracer_thread;
	void *block;

	if (thread->state & THREAD_NESTED)
		return real_of(context)->realloc(real_of(context)->ctx, old, size);
	block = reallocate(&tracer.tables[TABLE_LOCKED], context, old, size);
	record_raw(thread, block, size);
	return block;
}

static void raw_free(void *context, void *block)
{
	const PyMemAllocatorEx *real = real_of(context);
	struct trace_block freed;
	uint32_t outer;

	if (block && !(tracer_thread.state & THREAD_NESTED))
		(void)record_free(&tracer.tables[TABLE_LOCKED], block, &freed);
	outer = tracer_thread_enter(THREAD_NESTED);
	real->free(real->ctx, block);
	tracer_thread.state = outer;
}

static PyMemAllocatorEx functions_of(PyMemAllocatorDomain domain, PyMemAllocatorEx *real)
{
	if (domain == PYMEM_DOMAIN_RAW)
		return (PyMemAllocatorEx){real, raw_malloc, raw_calloc, raw_realloc, raw_free};
	return (PyMemAllocatorEx){real, object_malloc, object_calloc, object_realloc, object_free};
}

/* Set by a request that came through our hooks. */
static bool is_probed;
static void *(*probed_malloc)(void *context, size_t size);

static void *probe_malloc(void *context, size_t size)
{
	is_probed = true;
	return probed_malloc(context, size);
}

/*
 * Whether a request still comes through the hooks of a domain: others may have put their hooks on
 * top, or restored the earlier allocators, as the standard module does if it was started before us
 * and is stopped. "raw" is used without the GIL, so "mem" is tested in its place.
 */
static bool is_reached(int domain)
{
	int asked = domains[domain] == PYMEM_DOMAIN_RAW ? 1 : domain;
	PyMemAllocatorEx now;
	uint32_t outer;

	PyMem_GetAllocator(domains[asked], &now);
	if (now.malloc == hooked[asked].malloc && now.ctx == hooked[asked].ctx)
		return true;
	outer = tracer_thread_enter(THREAD_OWN);
	is_probed = false;
	probed_malloc = hooks_real[asked].malloc;
	hooks_real[asked].malloc = probe_malloc;
	now.free(now.ctx, now.malloc(now.ctx, 1));
	hooks_real[asked].malloc = probed_malloc;
	tracer_thread.state = outer;
	return is_probed;
}

int hooks_install(void)
{
	bool was_reached[DOMAINS];

	for (int i = 0; i < DOMAINS; i++)
		was_reached[i] = is_left[i] && is_reached(i);
	for (int i = 0; i < DOMAINS; i++) {
		PyMemAllocatorEx wanted = functions_of(domains[i], &hooks_real[i]);

		if (tracer.is_sampled)
			sampled_hooks_functions(domains[i], &wanted);
		is_left[i] = was_reached[i];
		if (is_left[i] && wanted.malloc != hooked[i].malloc)
			return -EBUSY;
		if (is_left[i])
			continue;
		PyMem_GetAllocator(domains[i], &hooks_real[i]);
		hooked[i] = wanted;
		PyMem_SetAllocator(domains[i], &hooked[i]);
		is_left[i] = true;
	}
	return 0;
}

bool hooks_are_reached(void)
{
	return is_reached(DOMAINS - 1);
}

bool hooks_are_last(void)
{
	PyMemAllocatorEx now;

	PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &now);
	return now.malloc == hooked[DOMAINS - 1].malloc && now.ctx == hooked[DOMAINS - 1].ctx;
}

void hooks_remove(void)
{
	for (int i = 0; i < DOMAINS; i++) {
		PyMemAllocatorEx now;

		PyMem_GetAllocator(domains[i], &now);
		if (!is_left[i] || now.malloc != hooked[i].malloc || now.ctx != hooked[i].ctx)
			continue;
		PyMem_SetAllocator(domains[i], &hooks_real[i]);
		is_left[i] = false;
	}
}
