/* SPDX-License-Identifier: BSD-2-Clause */
#include "c_blocks.h"

#include <dlfcn.h>
#include <errno.h>

#include "got.h"
#include "record.h"
#include "wire/heap_observer.h"

/* The block that the thread is resizing. */
static __thread struct {
	struct trace_block block;
	bool is_known;
} moved __attribute__((tls_model("initial-exec")));

static const struct heap_observer observer = {
	.bytes = sizeof(observer),
	.version = HEAP_OBSERVER_VERSION,
	.allocated = c_blocks_allocated,
	.freeing = c_blocks_freeing,
	.moving = c_blocks_moving,
	.stayed = c_blocks_stayed,
};

static enum { BY_NOTHING, BY_PRELOAD, BY_GOT } way;

typedef int observe_function(const struct heap_observer *observer);

static observe_function *find_preload(void)
{
	return (observe_function *)dlsym(RTLD_DEFAULT, HEAP_OBSERVER_FUNCTION);
}

int c_blocks_begin(void)
{
	observe_function *observe = find_preload();

	if (observe && observe(&observer) == 0)
		way = BY_PRELOAD;
	else if (got_hook() > 0)
		way = BY_GOT;
	else
		return -ENOSYS;
	return 0;
}

void c_blocks_end(void)
{
	if (way == BY_PRELOAD)
		(void)find_preload()(NULL);
	else if (way == BY_GOT)
		got_unhook();
	way = BY_NOTHING;
}

void c_blocks_hook_new_modules(bool are_new)
{
	if (way == BY_GOT)
		got_hook_new_modules(are_new);
}

static bool is_traced(void)
{
	return tracer.settings.native_max > 0 &&
	       atomic_load_explicit(&tracer.is_tracing, memory_order_relaxed);
}

static struct record_caller who(struct native_stack *native)
{
	struct record_caller caller = {.domain = TRACER_C_DOMAIN, .native = native};

	caller.thread = record_own_thread(&caller.holds_gil);
	/* The states of other threads are about to be freed. */
	if (!caller.holds_gil && version_is_finalizing())
		caller.thread = NULL;
	return caller;
}

static void __attribute__((noinline)) record(void *block, size_t size, uint64_t from)
{
	struct native_stack native;
	struct record_caller caller = who(&native);

	native.count = 0;
	if (!native_walk_is_unwinder(from))
		native_walk(&native, record_walk_hint(caller.thread) ^ from);
	if (tracer.is_sampled)
		sampled_add(block);
	record_block(&tracer.tables[TABLE_LOCKED], &caller, block, size);
}

void c_blocks_allocated(void *block, size_t size, uint64_t caller)
{
	struct tracer_thread *thread = &tracer_thread;
	int error = errno;
	uint32_t outer = thread->state;

	if (!block || outer != 0 || thread->locks > 0 || !is_traced() ||
	    (tracer.is_sampled && !sampled_is_due(size)))
		return;
	thread->state = THREAD_OWN;
	record(block, size, caller);
	thread->state = outer;
	errno = error;
}

/* Returns whether the block was known. */
static bool forget(void *block, struct trace_block *ret)
{
	struct tracer_thread *thread = &tracer_thread;
	int error = errno;
	bool is_known;

	if (!block || (thread->state & THREAD_NESTED) || thread->locks > 0 || !is_traced() ||
	    (tracer.is_sampled && !sampled_may_know(block)))
		return false;
	is_known = record_free(&tracer.tables[TABLE_LOCKED], block, ret);
	if (is_known && tracer.is_sampled)
		sampled_remove(block);
	errno = error;
	return is_known;
}

void c_blocks_freeing(void *block)
{
	struct trace_block freed;

	(void)forget(block, &freed);
}

void c_blocks_moving(void *block)
{
	moved.is_known = forget(block, &moved.block);
}

void c_blocks_stayed(void *block)
{
	int error = errno;

	if (!moved.is_known || moved.block.address != (uint64_t)(uintptr_t)block)
		return;
	moved.is_known = false;
	if (tracer.is_sampled)
		sampled_add(block);
	record_restore(&tracer.tables[TABLE_LOCKED], &moved.block);
	errno = error;
}
