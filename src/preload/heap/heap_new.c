/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_new: operator new and delete of C++, which some allocators provide without calling malloc().
 * Calls that they do make are not counted again.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "preload/heap/heap.h"
#include "preload/real_functions.h"

/*
 * The real functions of a name. In a C++ program there is one for all. Other programs may load C++
 * modules with their own operators: these find our function through the global scope, but the next
 * one only through their own.
 */
#define PLACES 64u
struct operators {
	_Atomic(void *) next;
	_Atomic bool of_allocator; /* it belongs to the allocator */
	struct {
		_Atomic uint64_t key; /* the caller, since the last unload */
		_Atomic(void *) function;
	} places[PLACES];
};

static _Atomic uint64_t parts_gone;

void heap_new_forget(void)
{
	(void)atomic_fetch_add(&parts_gone, 1);
}

/* Operators call each other: nested calls use the result of the first caller. */
static __thread struct {
	struct nested_call call;
	uint64_t pc;
} outer __attribute__((tls_model("initial-exec")));

static uint64_t outer_caller(const struct heap_site *site, bool *ret_first)
{
	*ret_first = !nested_is_within(preload_self, outer.call, site->frame);
	if (*ret_first)
		outer = (__typeof__(outer)){{site->frame, nested_word(site->frame)}, site->pc};
	return outer.pc;
}

/* The real ones, not ours: nothing is loaded or unloaded. */
REAL_FUNCTION(dlopen);
REAL_FUNCTION(dlclose);

static void *find_in_part(const char *name, uint64_t caller)
{
	void *function = NULL;
	Dl_info info;
	void *object;

	if (!real_dlopen || !real_dlclose || !dladdr((void *)(uintptr_t)caller, &info) ||
	    !info.dli_fname)
		return NULL;
	object = real_dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	function = object ? dlsym(object, name) : NULL;
	if (object)
		(void)real_dlclose(object);
	return function;
}

/* The result for a caller. Others may write concurrently: valid only if the key is unchanged. */
static void *find_known(struct operators *known, uint64_t key)
{
	uint32_t at = key * 0x9e3779b97f4a7c15ull >> 58;
	void *function;

	if (atomic_load(&known->places[at].key) != key)
		return NULL;
	function = atomic_load(&known->places[at].function);
	return atomic_load(&known->places[at].key) == key ? function : NULL;
}

static void know(struct operators *known, uint64_t key, void *function)
{
	uint32_t at = key * 0x9e3779b97f4a7c15ull >> 58;

	if (atomic_exchange(&known->places[at].key, 1) == 1)
		return; /* another thread is doing it */
	atomic_store(&known->places[at].function, function);
	atomic_store(&known->places[at].key, key);
}

static __attribute__((noinline)) void *find_slowly(struct operators *known, const char *name,
						   const struct heap_site *site, bool *ret_first)
{
	uint64_t caller = outer_caller(site, ret_first);
	uint64_t key = caller | atomic_load(&parts_gone) << 48;
	void *function = find_known(known, key);

	if (function)
		return function;
	function = dlsym(RTLD_NEXT, name);
	if (function) {
		heap_find_allocator();
		atomic_store(&known->of_allocator,
			     heap_is_of_allocator((uint64_t)(uintptr_t)function));
		atomic_store(&known->next, function);
		return function;
	}
	function = find_in_part(name, caller);
	if (function)
		know(known, key, function);
	return function;
}

static inline void *find(struct operators *known, const char *name, const struct heap_site *site,
			 bool *ret_first)
{
	void *next = atomic_load_explicit(&known->next, memory_order_acquire);

	*ret_first = false;
	return next ? next : find_slowly(known, name, site, ret_first);
}

static inline void leave(bool first)
{
	if (first)
		outer.call.frame = 0;
}

/* If there are no operators at all, new and delete are malloc() and free(). */
static void *allocate(size_t size)
{
	void *block = malloc(size ? size : 1);

	if (!block)
		abort(); /* no exception can be thrown here */
	return block;
}

static inline void enter_new(struct preload_thread *thread, const struct operators *known,
			     const struct heap_site *site)
{
	if (!thread)
		return;
	thread->inner_block = NULL;
	thread->new_frame = site->frame;
	thread->new_of_allocator = atomic_load_explicit(&known->of_allocator, memory_order_relaxed);
	thread->new_failed = false;
}

/* Whether the block was already recorded, after a failed allocation. */
static inline bool has_recorded(struct preload_thread *thread, const struct operators *known,
				const void *block)
{
	bool failed;

	if (!thread)
		return false;
	failed = thread->new_failed;
	thread->new_frame = 0;
	thread->new_failed = false;
	if (failed && block == thread->inner_block)
		return true;
	if (atomic_load_explicit(&known->of_allocator, memory_order_relaxed))
		thread->inner_block = block;
	return false;
}

#define NEW(id, symbol, call, parameters, arguments)                                               \
	extern void *id parameters __asm__(symbol);                                                \
	PRELOAD_EXPORT void *id parameters                                                         \
	{                                                                                          \
		static struct operators known;                                                     \
		struct heap_site site = HEAP_SITE();                                               \
		struct preload_thread *thread = heap_enter(&site);                                 \
		bool first;                                                                        \
		__typeof__(&id) real = (__typeof__(&id))find(&known, symbol, &site, &first);       \
		void *block;                                                                       \
                                                                                                   \
		enter_new(thread, &known, &site);                                                  \
		block = real && real != id ? real arguments : allocate(size);                      \
		if (!has_recorded(thread, &known, block))                                          \
			heap_allocated(thread, &site, call, block, size);                          \
		leave(first);                                                                      \
		heap_leave(thread);                                                                \
		return block;                                                                      \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

#define DELETE(id, symbol, call, parameters, arguments)                                            \
	extern void id parameters __asm__(symbol);                                                 \
	PRELOAD_EXPORT void id parameters                                                          \
	{                                                                                          \
		static struct operators known;                                                     \
		struct heap_site site = HEAP_SITE();                                               \
		struct preload_thread *thread = heap_enter(&site);                                 \
		bool first;                                                                        \
		__typeof__(&id) real = (__typeof__(&id))find(&known, symbol, &site, &first);       \
                                                                                                   \
		heap_freed_at(thread, &site, call, block);                                         \
		if (real && real != id)                                                            \
			real arguments;                                                            \
		else                                                                               \
			free(block);                                                               \
		leave(first);                                                                      \
		heap_leave(thread);                                                                \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

/* align_val_t is passed as a number, nothrow_t as a reference. */
#define ONE SESSION_NEW
#define MANY SESSION_NEW_ARRAY

NEW(new_one, "_Znwm", ONE, (size_t size), (size));
NEW(new_many, "_Znam", MANY, (size_t size), (size));
NEW(new_one_quiet, "_ZnwmRKSt9nothrow_t", ONE, (size_t size, const void *quiet), (size, quiet));
NEW(new_many_quiet, "_ZnamRKSt9nothrow_t", MANY, (size_t size, const void *quiet), (size, quiet));
NEW(new_one_at, "_ZnwmSt11align_val_t", ONE, (size_t size, size_t at), (size, at));
NEW(new_many_at, "_ZnamSt11align_val_t", MANY, (size_t size, size_t at), (size, at));
NEW(new_one_at_quiet, "_ZnwmSt11align_val_tRKSt9nothrow_t", ONE,
    (size_t size, size_t at, const void *quiet), (size, at, quiet));
NEW(new_many_at_quiet, "_ZnamSt11align_val_tRKSt9nothrow_t", MANY,
    (size_t size, size_t at, const void *quiet), (size, at, quiet));

DELETE(delete_one, "_ZdlPv", ONE, (void *block), (block));
DELETE(delete_many, "_ZdaPv", MANY, (void *block), (block));
DELETE(delete_one_quiet, "_ZdlPvRKSt9nothrow_t", ONE, (void *block, const void *quiet),
       (block, quiet));
DELETE(delete_many_quiet, "_ZdaPvRKSt9nothrow_t", MANY, (void *block, const void *quiet),
       (block, quiet));
DELETE(delete_one_sized, "_ZdlPvm", ONE, (void *block, size_t size), (block, size));
DELETE(delete_many_sized, "_ZdaPvm", MANY, (void *block, size_t size), (block, size));
DELETE(delete_one_at, "_ZdlPvSt11align_val_t", ONE, (void *block, size_t at), (block, at));
DELETE(delete_many_at, "_ZdaPvSt11align_val_t", MANY, (void *block, size_t at), (block, at));
DELETE(delete_one_at_quiet, "_ZdlPvSt11align_val_tRKSt9nothrow_t", ONE,
       (void *block, size_t at, const void *quiet), (block, at, quiet));
DELETE(delete_many_at_quiet, "_ZdaPvSt11align_val_tRKSt9nothrow_t", MANY,
       (void *block, size_t at, const void *quiet), (block, at, quiet));
DELETE(delete_one_sized_at, "_ZdlPvmSt11align_val_t", ONE, (void *block, size_t size, size_t at),
       (block, size, at));
DELETE(delete_many_sized_at, "_ZdaPvmSt11align_val_t", MANY, (void *block, size_t size, size_t at),
       (block, size, at));
