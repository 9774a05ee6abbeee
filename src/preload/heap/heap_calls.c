/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_calls: the allocation functions of the C library. Each calls the real one, preserves its
 * errno, and records the call.
 */
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/heap/heap_put.h"
#include "preload/real_functions.h"

REAL_DEFINE(malloc);
REAL_DEFINE(calloc);
REAL_DEFINE(realloc);
REAL_DEFINE(reallocarray);
REAL_DEFINE(free);
REAL_DEFINE(posix_memalign);
REAL_DEFINE(aligned_alloc);
REAL_DEFINE(memalign);
REAL_DEFINE(valloc);
REAL_DEFINE(pvalloc);
REAL_DEFINE(malloc_usable_size);

/* Resolves the real functions. That may itself allocate, before they are known. */
static __attribute__((noinline, cold)) bool search(void)
{
	static _Atomic bool searching;

	if (atomic_exchange(&searching, true))
		return false;
	resolve_malloc();
	resolve_calloc();
	resolve_realloc();
	resolve_reallocarray();
	resolve_free();
	resolve_posix_memalign();
	resolve_aligned_alloc();
	resolve_memalign();
	resolve_valloc();
	resolve_pvalloc();
	resolve_malloc_usable_size();
	atomic_store(&searching, false);
	return real_malloc_usable_size != NULL;
}

/* Whether the real functions are known. */
static inline bool is_found(void)
{
	if (__builtin_expect(real_malloc_usable_size == NULL, 0) && !search())
		return false;
	if (__builtin_expect(
		    atomic_load_explicit(&heap_detours, memory_order_relaxed) & HEAP_NOT_FOUND, 0))
		heap_set_detour(HEAP_NOT_FOUND, false);
	return true;
}

bool heap_is_bypassed(void)
{
	/* Our own reference is bound to our own function, whatever comes first. */
	void *first = dlsym(RTLD_DEFAULT, "malloc");
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (first == (void *)malloc)
		return false;
	/* A program that only takes its address has a PLT stub of that name, not a function. */
	return dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || !symbol ||
	       symbol->st_shndx != SHN_UNDEF;
}

/* The bounds of the library that knows the usable size of blocks; high is written last. */
static struct {
	_Atomic uint64_t low;
	_Atomic uint64_t high; /* 0: unknown */
} allocator;

static int look_for_allocator(struct dl_phdr_info *info, size_t size, void *unused)
{
	uint64_t function = (uint64_t)(uintptr_t)real_malloc_usable_size;
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	(void)size;
	(void)unused;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		high = begin + header->p_memsz > high ? begin + header->p_memsz : high;
	}
	if (function < low || function >= high)
		return 0;
	atomic_store(&allocator.low, low);
	atomic_store(&allocator.high, high);
	return 1;
}

void heap_find_allocator(void)
{
	if (atomic_load(&allocator.high) == 0 && is_found())
		(void)dl_iterate_phdr(look_for_allocator, NULL);
}

bool heap_is_of_allocator(uint64_t address)
{
	return address < atomic_load(&allocator.high) && address >= atomic_load(&allocator.low);
}

/*
 * An observer is called outside of what we record: it may allocate itself.
 */
static inline void observe_allocated(const struct heap_site *site, void *block, size_t size)
{
	const struct heap_observer *observer = heap_observed();

	if (__builtin_expect(observer && block, 0))
		observer->allocated(block, size, site->pc);
}

static inline void observe_freeing(void *block)
{
	const struct heap_observer *observer = heap_observed();

	if (__builtin_expect(observer != NULL, 0))
		observer->freeing(block);
}

/*
 * The most frequent functions return at once if nothing is recorded. Otherwise a function that they
 * tail-call, so that its caller is the program, writes the event; whatever is not usual has a
 * function of its own.
 */
static __attribute__((noinline)) void *malloc_by_detour_from(size_t size,
							     const struct heap_site *site)
{
	struct preload_thread *thread;
	void *block;

	if (!is_found())
		return heap_early(size, 0);
	thread = heap_enter(site);
	block = real_malloc(size);
	heap_allocated(thread, site, SESSION_MALLOC, block, size);
	heap_leave(thread);
	observe_allocated(site, block, size);
	return block;
}

static __attribute__((noinline)) void *record_malloc(size_t size)
{
	const struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = heap_enter_plainly(&site);
	struct heap_block block = {.size = size, .call = SESSION_MALLOC};

	if (__builtin_expect(!thread, 0)) {
		const struct heap_site copy = site; /* lets the other be in registers */

		return malloc_by_detour_from(size, &copy);
	}
	block.address = real_malloc(size);
	if (__builtin_expect(block.address != NULL, 1))
		heap_put_allocated(thread, &site, &block);
	heap_leave(thread);
	return (void *)(uintptr_t)block.address;
}

static __attribute__((noinline)) void *malloc_by_detour(size_t size)
{
	const struct heap_site site = HEAP_SITE();

	return malloc_by_detour_from(size, &site);
}

PRELOAD_EXPORT void *malloc(size_t size)
{
	if (heap_is_plain())
		return record_malloc(size);
	return heap_skips(size) ? real_malloc(size) : malloc_by_detour(size);
}

static __attribute__((noinline)) void *record_calloc(size_t count, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread;
	void *block;

	if (!is_found()) /* fresh memory is zero */
		return size && count > SIZE_MAX / size ? NULL : heap_early(count * size, 0);
	thread = heap_enter(&site);
	block = real_calloc(count, size);
	heap_allocated(thread, &site, SESSION_CALLOC, block, count * size);
	heap_leave(thread);
	observe_allocated(&site, block, count * size);
	return block;
}

PRELOAD_EXPORT void *calloc(size_t count, size_t size)
{
	return heap_skips(count * size) ? real_calloc(count, size) : record_calloc(count, size);
}

static __attribute__((noinline)) void free_by_detour_from(void *block, const struct heap_site *site)
{
	struct preload_thread *thread;

	if (!block || heap_is_early(block) || !is_found())
		return;
	observe_freeing(block);
	thread = heap_enter(site);
	heap_freed_at(thread, site, SESSION_MALLOC, block);
	real_free(block);
	heap_leave(thread);
}

static __attribute__((noinline)) void record_free(void *block)
{
	const struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = block ? heap_enter_plainly(&site) : NULL;

	if (__builtin_expect(!thread, 0)) {
		const struct heap_site copy = site;

		free_by_detour_from(block, &copy);
		return;
	}
	heap_put_word(thread, heap_head_of(SESSION_FREE, SESSION_MALLOC, block));
	real_free(block);
	heap_leave(thread);
}

static __attribute__((noinline)) void free_by_detour(void *block)
{
	const struct heap_site site = HEAP_SITE();

	free_by_detour_from(block, &site);
}

PRELOAD_EXPORT void free(void *block)
{
	if (heap_is_plain())
		record_free(block);
	else if (heap_skips_free(block))
		real_free(block);
	else
		free_by_detour(block);
}

/*
 * New in C23; not every C library has them. They are resolved when called, because a failed search
 * allocates program memory.
 */
#define FREE(name, call, parameters, arguments)                                                    \
	extern void name parameters;                                                               \
	PRELOAD_EXPORT void name parameters                                                        \
	{                                                                                          \
		static __typeof__(&name) real;                                                     \
		struct heap_site site = HEAP_SITE();                                               \
		struct preload_thread *thread;                                                     \
                                                                                                   \
		if (!block || heap_is_early(block) || !is_found())                                 \
			return;                                                                    \
		observe_freeing(block);                                                            \
		thread = heap_enter(&site);                                                        \
		heap_freed_at(thread, &site, call, block);                                         \
		if (!real)                                                                         \
			real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                         \
		if (real)                                                                          \
			real arguments;                                                            \
		else                                                                               \
			real_free(block);                                                          \
		heap_leave(thread);                                                                \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

FREE(free_sized, SESSION_MALLOC, (void *block, size_t size), (block, size));
FREE(free_aligned_sized, SESSION_ALIGNED, (void *block, size_t alignment, size_t size),
     (block, alignment, size));

/*
 * Moves a block from before the allocator was found into the allocator, or keeps it early if that
 * is still unknown.
 */
static void *leave_early(void *block, size_t size)
{
	size_t old = heap_early_size(block);
	void *other = malloc(size);

	if (other)
		memcpy(other, block, old < size ? old : size);
	return other;
}

static bool say_moves(struct preload_thread **ret_thread, const struct heap_site *site, void *block)
{
	const struct heap_observer *observer = heap_observed();

	if (__builtin_expect(observer && block, 0))
		observer->moving(block);
	*ret_thread = heap_enter(site);
	return heap_moves(*ret_thread, site, block);
}

/* Records the result of realloc(). The block is freed if size 0 returned NULL. */
static void *say_moved(struct preload_thread *thread, const struct heap_site *site, bool moves,
		       const void *old, void *block, size_t size)
{
	const struct heap_observer *observer = heap_observed();

	if (block)
		heap_allocated(thread, site, SESSION_REALLOC, block, size);
	else if (moves && size > 0)
		heap_stayed(thread, old);
	heap_leave(thread);
	observe_allocated(site, block, size);
	if (__builtin_expect(observer && !block && old && size > 0, 0))
		observer->stayed((void *)(uintptr_t)old);
	return block;
}

static __attribute__((noinline)) void *record_realloc(void *block, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread;
	const void *old = block; /* keeps the address after the block is gone */
	bool moves;

	if (heap_is_early(block))
		return leave_early(block, size);
	if (!is_found())
		return heap_early(size, 0);
	moves = say_moves(&thread, &site, block);
	return say_moved(thread, &site, moves, old, real_realloc(block, size), size);
}

PRELOAD_EXPORT void *realloc(void *block, size_t size)
{
	return heap_skips_free(block) && heap_skips(size) ? real_realloc(block, size)
							  : record_realloc(block, size);
}

PRELOAD_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread;
	const void *old = block;
	bool moves;

	if (size && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	/* The real one calls realloc(), which an observer would see twice. */
	if (!is_found() || heap_is_early(block) || !real_reallocarray || heap_observed())
		return realloc(block, count * size);
	moves = say_moves(&thread, &site, block);
	return say_moved(thread, &site, moves, old, real_reallocarray(block, count, size),
			 count * size);
}

PRELOAD_EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread;
	int r;

	if (!is_found())
		return (*ret = heap_early(size, alignment)) ? 0 : ENOMEM;
	thread = heap_enter(&site);
	r = real_posix_memalign(ret, alignment, size);
	heap_allocated(thread, &site, SESSION_ALIGNED, r == 0 ? *ret : NULL, size);
	heap_leave(thread);
	observe_allocated(&site, r == 0 ? *ret : NULL, size);
	return r;
}

/* The others differ only in name and parameters. */
#define ALIGNED(name, parameters, arguments, wanted)                                               \
	PRELOAD_EXPORT void *name parameters                                                       \
	{                                                                                          \
		struct heap_site site = HEAP_SITE();                                               \
		struct preload_thread *thread;                                                     \
		void *block;                                                                       \
                                                                                                   \
		if (!is_found())                                                                   \
			return heap_early(size, wanted);                                           \
		thread = heap_enter(&site);                                                        \
		block = real_##name arguments;                                                     \
		heap_allocated(thread, &site, SESSION_ALIGNED, block, size);                       \
		heap_leave(thread);                                                                \
		observe_allocated(&site, block, size);                                             \
		return block;                                                                      \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

#define PAGE_BYTES 65536u /* the largest page size */

ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), alignment);
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size), alignment);
ALIGNED(valloc, (size_t size), (size), PAGE_BYTES);
ALIGNED(pvalloc, (size_t size), (size), PAGE_BYTES);

PRELOAD_EXPORT size_t malloc_usable_size(void *block)
{
	if (heap_is_early(block))
		return heap_early_size(block);
	return is_found() ? real_malloc_usable_size(block) : 0;
}
