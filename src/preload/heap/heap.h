/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_H
#define WICK_PRELOAD_HEAP_HEAP_H

/*
 * heap: records what the program does with its memory, in the thread that does it.
 *
 * The functions that interpose the allocator's (heap_calls.c, heap_new.c) enter, call the real one,
 * record what happened, and leave:
 *
 *	struct heap_site site = HEAP_SITE();
 *	struct preload_thread *thread = heap_enter(&site);
 *	void *block = REAL(malloc)(size);
 *
 *	heap_allocated(thread, &site, SESSION_MALLOC, block, size);
 *	heap_leave(thread);
 *
 * Calls made by the allocator itself, or by a handler that interrupts it, are not recorded: there
 * heap_enter() returns NULL, and all other functions accept that and do nothing.
 */

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/nested_call.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "wire/heap_observer.h"
#include "wire/heap_record.h"

#define HEAP_INLINE static inline __attribute__((always_inline))

/* The call site: the frame of the caller, where a walk begins, and our own frame below it. */
struct heap_site {
	uint64_t pc;
	uint64_t sp;
	uint64_t frame; /* frame of the called function: holds the caller's fp and pc */
};

/* The site of the enclosing function, which this forces to keep a frame. */
#define HEAP_SITE()                                                                                \
	((struct heap_site){                                                                       \
		(uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)),   \
		(uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                                        \
		(uint64_t)(uintptr_t)__builtin_frame_address(0),                                   \
	})

/* The caller's frame pointer. */
static inline uint64_t heap_site_fp(const struct heap_site *site)
{
	return *(const uint64_t *)(uintptr_t)site->frame;
}

static inline struct unwind_frame heap_frame_of(const struct heap_site *site)
{
	return (struct unwind_frame){
		.pc = site->pc,
		.sp = site->sp,
		.fp = heap_site_fp(site),
	};
}

REAL_FUNCTION(malloc_usable_size) PRELOAD_OWN;

/* Whether anything is recorded; the first call determines it. */
extern _Atomic uint32_t heap_is_on PRELOAD_OWN;
enum { HEAP_UNKNOWN, HEAP_OFF, HEAP_ON, HEAP_SAMPLED, HEAP_STEPPED };

/*
 * Why an event needs more than being written; 0: nothing. One load tells the most frequent
 * functions that all of this is as usual.
 */
enum heap_detour {
	HEAP_NOT_ALL = 1,       /* not every event is recorded, for another reason than samples */
	HEAP_NOT_FOUND = 2,     /* the real functions are unknown */
	HEAP_OBSERVED = 4,      /* there is an observer */
	HEAP_FREE_STACKS = 8,   /* frees have stacks */
	HEAP_EARLY_BLOCKS = 16, /* some blocks are not the allocator's */
	HEAP_SAMPLES = 32,      /* blocks are sampled */
};
extern _Atomic uint32_t heap_detours PRELOAD_OWN;
void heap_set_detour(enum heap_detour detour, bool on);
static inline bool heap_is_plain(void)
{
	return __builtin_expect(atomic_load_explicit(&heap_detours, memory_order_relaxed) == 0, 1);
}

/* Determines it, once the environment is available. Callable from anywhere. */
void heap_begin(void);
/* Starts again if there is a session: in a child that created its own. */
void heap_resume(void);
/* Reduces recording from now on: heap_budget.h. */
void heap_step(void);
/* Ends recording: the session is over, or this program is no longer recorded. */
void heap_end(void);

struct preload_thread *heap_enter_slow(const struct heap_site *site);

HEAP_INLINE struct preload_thread *heap_enter(const struct heap_site *site)
{
	struct preload_thread *thread = preload_self;

	if (__builtin_expect(atomic_load_explicit(&heap_is_on, memory_order_relaxed) < HEAP_ON ||
				     !thread || thread->inside > site->frame,
			     0)) {
		const struct heap_site copy = *site; /* lets the other be in registers */

		return heap_enter_slow(&copy);
	}
	thread->inside = site->frame;
	thread->inside_word = nested_word(site->frame);
	return thread;
}

/* The same if all is plain. NULL: something about the thread is not. */
HEAP_INLINE struct preload_thread *heap_enter_plainly(const struct heap_site *site)
{
	struct preload_thread *thread = preload_self;

	if (__builtin_expect(!thread || thread->inside > site->frame || thread->new_failed, 0))
		return NULL;
	thread->inside = site->frame;
	thread->inside_word = nested_word(site->frame); /* as stored: maybe signed */
	return thread;
}

static inline void heap_leave(struct preload_thread *thread)
{
	if (thread)
		thread->inside = 0;
}

/*
 * How many sampled blocks there are, by address. Neighbours are side by side: what a program frees
 * lies together, and so few lines of the cache are needed.
 */
#define HEAP_FILTER_SIZE 16384u
extern _Atomic uint8_t heap_sample_filter[HEAP_FILTER_SIZE] PRELOAD_OWN;

static inline _Atomic uint8_t *heap_sample_kind(const void *block)
{
	uint64_t granule = (uint64_t)(uintptr_t)block >> 6;

	return &heap_sample_filter[(granule ^ granule >> 14) & (HEAP_FILTER_SIZE - 1)];
}

/* Another library that sees every block: heap_observer.c. */
extern _Atomic(const struct heap_observer *) heap_observer PRELOAD_OWN;

static inline const struct heap_observer *heap_observed(void)
{
	return atomic_load_explicit(&heap_observer, memory_order_relaxed);
}

/* Memory for allocations before the allocator has been found; it is never freed. */
void *heap_early(size_t size, size_t alignment);
extern _Atomic uint64_t heap_early_begin PRELOAD_OWN; /* 0: not used yet */
extern _Atomic uint64_t heap_early_bytes PRELOAD_OWN;
static inline bool heap_is_early(const void *block)
{
	uint64_t begin = atomic_load_explicit(&heap_early_begin, memory_order_relaxed);

	return __builtin_expect(begin != 0, 0) &&
	       (uint64_t)(uintptr_t)block - begin < atomic_load(&heap_early_bytes);
}
size_t heap_early_size(const void *block);

/* Whether nothing is recorded. */
static inline bool heap_is_off(uint32_t detours)
{
	return (detours & ~(uint32_t)HEAP_EARLY_BLOCKS) == HEAP_NOT_ALL &&
	       atomic_load_explicit(&heap_is_on, memory_order_relaxed) == HEAP_OFF;
}

/*
 * Whether an allocation or a free need not be recorded and can go straight to the real function.
 * All that a block which is not sampled costs is here.
 */
static inline bool heap_skips(size_t size)
{
	uint32_t detours = atomic_load_explicit(&heap_detours, memory_order_relaxed);
	struct preload_thread *thread = preload_self;

	if (__builtin_expect(detours != HEAP_SAMPLES, 0))
		return heap_is_off(detours);
	if (__builtin_expect(!thread || thread->inside || thread->left_bytes <= size, 0))
		return false;
	thread->left_bytes -= size;
	return true;
}

static inline bool heap_skips_free(const void *block)
{
	uint32_t detours = atomic_load_explicit(&heap_detours, memory_order_relaxed);

	if (__builtin_expect(detours != HEAP_SAMPLES, 0))
		return heap_is_off(detours) && !heap_is_early(block);
	return atomic_load_explicit(heap_sample_kind(block), memory_order_relaxed) == 0;
}

/* Records an allocated block; NULL: the allocation failed. */
void heap_allocated(struct preload_thread *thread, const struct heap_site *site,
		    enum session_call call, const void *block, size_t size);

/* Records a block that is about to be freed; NULL: none. */
void heap_freed(struct preload_thread *thread, enum session_call call, const void *block);
void heap_freed_stacked(struct preload_thread *thread, const struct heap_site *site,
			enum session_call call, const void *block);

/* The same with its stack, if requested. */
extern bool heap_free_stacks PRELOAD_OWN;
static inline void heap_freed_at(struct preload_thread *thread, const struct heap_site *site,
				 enum session_call call, const void *block)
{
	if (__builtin_expect(heap_free_stacks, 0))
		heap_freed_stacked(thread, site, call, block);
	else
		heap_freed(thread, call, block);
}

/*
 * Records that realloc() is about to move a block. If true, follow it with heap_allocated() for the
 * new block, or with heap_stayed() if it failed.
 */
bool heap_moves(struct preload_thread *thread, const struct heap_site *site, const void *block);
void heap_stayed(struct preload_thread *thread, const void *block);

/* A module was unloaded, maybe with its own operators. */
void heap_new_forget(void);

/* Whether another malloc() takes precedence over ours: the program defines its own. */
bool heap_is_bypassed(void);

/*
 * Whether an address is in the library that knows the usable size of blocks. heap_find_allocator()
 * must find it first, once, where calling the loader is safe.
 */
void heap_find_allocator(void);
bool heap_is_of_allocator(uint64_t address);

#endif
