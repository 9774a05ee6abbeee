/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_maps: mappings that the program makes itself, without those of the C library or an
 * allocator.
 *
 * A range is a block. If part of it is unmapped, the block ends, and the rest becomes one or two
 * blocks with the original stack, as after realloc(). So the sum of blocks is what is mapped, at
 * any moment. Ranges are whole pages.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/guarded_memory.h"
#include "preload/heap/exit_scan.h"
#include "preload/heap/heap.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_ranges.h"
#include "preload/heap/heap_stack.h"
#include "preload/real_functions.h"
#include "preload/ring.h"
#include "safe/syscall.h"

#define LOCK_TRIES 1000u
/* What programs with some hundred ranges use of the table. */
#define TABLE_BYTES (256ull << 10)
#define PAGE_BYTES 4096u /* if unknown */

#ifndef MREMAP_DONTUNMAP /* since Linux 5.7 */
#define MREMAP_DONTUNMAP 4
#endif

/* The kernel wipes it in children: they do not know inherited ranges. */
struct map_table {
	_Atomic uint32_t lock;
	struct heap_ranges ranges;
};

static _Atomic(struct map_table *) map_table;

static struct map_table *find_table(void)
{
	struct map_table *table = atomic_load(&map_table);
	struct map_table *mine;

	if (table)
		return table;
	mine = guarded_map(sizeof(*table), true);
	if (!mine)
		return NULL;
	if (atomic_compare_exchange_strong(&map_table, &table, mine)) {
		heap_budget_take(TABLE_BYTES);
		exit_scan_note_own((uint64_t)(uintptr_t)mine, sizeof(*mine));
		return mine;
	}
	guarded_unmap(mine, sizeof(*table));
	return table;
}

/* Spins only briefly: the holder may be interrupted by a handler that maps memory. */
static struct map_table *lock_table(void)
{
	struct map_table *table = find_table();

	for (uint32_t i = 0; table && i < LOCK_TRIES; i++) {
		if (atomic_exchange(&table->lock, 1) == 0)
			return table;
		(void)safe_syscall(SYS_sched_yield, 0);
	}
	preload_count(SESSION_HEAP_MISSED, 1);
	return NULL;
}

static void unlock_table(struct map_table *table)
{
	while (table->ranges.damaged > 0) {
		table->ranges.damaged--;
		heap_budget_error();
	}
	atomic_store(&table->lock, 0);
}

static uint64_t address_of(const void *address)
{
	return (uint64_t)(uintptr_t)address;
}

static uint64_t page_bytes(void)
{
	uint64_t bytes = getauxval(AT_PAGESZ);

	return bytes ? bytes : PAGE_BYTES;
}

/* The end of a range in whole pages; its start if it is invalid. */
static uint64_t end_of(uint64_t begin, size_t size)
{
	uint64_t page = page_bytes();
	uint64_t end = (begin + size + page - 1) / page * page;

	return begin % page != 0 || end < begin ? begin : end;
}

/* The calling thread, if the call is to be recorded. */
static struct preload_thread *enter(const struct heap_site *site)
{
	if (atomic_load(&heap_is_on) == HEAP_UNKNOWN)
		heap_begin();
	if (atomic_load(&heap_is_on) <= HEAP_OFF || !preload.control->heap_maps)
		return NULL;
	return heap_enter(site);
}

static void say_again(struct preload_thread *thread, uint64_t begin, uint64_t end,
		      const struct heap_frames *frames)
{
	uint32_t stack;

	if (!heap_lock(thread))
		return;
	if (!heap_stack_again(thread, frames, &stack) ||
	    !heap_put_range(thread, begin, end - begin, stack))
		ring_lose(thread, 1, 0);
	heap_unlock(thread);
}

/* Records the rest of a cut range again. *ret is the last one that was cut. */
static void forget(struct preload_thread *thread, uint64_t begin, uint64_t end,
		   struct heap_cut *ret)
{
	bool found = begin < end;

	ret->whole = (struct heap_range){0};
	while (found) {
		struct map_table *table = lock_table();
		struct heap_cut cut;

		if (!table)
			return;
		found = heap_ranges_cut(&table->ranges, begin, end, &cut);
		unlock_table(table);
		if (!found)
			return;
		heap_freed(thread, SESSION_MMAP, (const void *)cut.whole.begin);
		if (cut.head)
			say_again(thread, cut.whole.begin, begin, &cut.frames);
		if (cut.tail)
			say_again(thread, end, cut.whole.end, &cut.frames);
		*ret = cut;
	}
}

static bool keep(uint64_t begin, uint64_t end, const struct heap_frames *frames)
{
	struct map_table *table = lock_table();
	bool kept = table && heap_ranges_add(&table->ranges, begin, end, frames);

	if (table)
		unlock_table(table);
	if (table && !kept)
		preload_count(SESSION_HEAP_MISSED, 1);
	return kept;
}

/* The kernel refused: records the cut part again, as a separate piece. */
static void restore(struct preload_thread *thread, uint64_t begin, uint64_t end,
		    const struct heap_cut *cut)
{
	if (cut->whole.begin > begin)
		begin = cut->whole.begin;
	if (cut->whole.end < end)
		end = cut->whole.end;
	if (begin < end && keep(begin, end, &cut->frames))
		say_again(thread, begin, end, &cut->frames);
}

/* Adds a range. Old ranges at its addresses are gone without notice. */
static void add_range(struct preload_thread *thread, const struct heap_site *site, uint64_t begin,
		      uint64_t end)
{
	struct heap_frames frames;
	struct heap_cut cut;
	uint32_t stack;

	forget(thread, begin, end, &cut);
	if (!heap_lock(thread))
		return;
	if (!heap_stack_keep(thread, site, &frames, &stack) ||
	    (keep(begin, end, &frames) && !heap_put_range(thread, begin, end - begin, stack)))
		ring_lose(thread, 1, 0);
	heap_unlock(thread);
}

/* The arguments of mmap(). */
struct wish {
	void *address;
	size_t size;
	int protection;
	int flags;
	int fd;
	off64_t offset;
};

static void add(struct preload_thread *thread, const struct heap_site *site, uint64_t begin,
		size_t size)
{
	add_range(thread, site, begin, end_of(begin, size));
}

/* The current program break. */
static uint64_t break_of(void *(*real)(intptr_t))
{
	return address_of(real(0));
}

typedef void *map_fn(void *address, size_t size, int protection, int flags, int fd, off64_t offset);

static void *map(const struct heap_site *site, map_fn *real, const struct wish *wish)
{
	struct preload_thread *thread = enter(site);
	uint64_t begin = wish->flags & MAP_FIXED ? address_of(wish->address) : 0;
	uint64_t end = begin ? end_of(begin, wish->size) : 0;
	struct heap_cut cut;
	void *result;

	if (thread)
		forget(thread, begin, end, &cut);
	result = real(wish->address, wish->size, wish->protection, wish->flags, wish->fd,
		      wish->offset);
	if (!thread)
		return result;
	if (result != MAP_FAILED)
		add(thread, site, address_of(result), wish->size);
	else
		restore(thread, begin, end, &cut);
	heap_leave(thread);
	return result;
}

/* The headers map both names to one. */
#define MMAP(id, symbol)                                                                           \
	extern map_fn id __asm__(symbol);                                                          \
	static map_fn *real_##id;                                                                  \
	__attribute__((constructor(101))) static void resolve_##id(void)                           \
	{                                                                                          \
		if (!real_##id)                                                                    \
			real_##id = (map_fn *)dlsym(RTLD_NEXT, symbol);                            \
	}                                                                                          \
	PRELOAD_EXPORT void *id(void *address, size_t size, int protection, int flags, int fd,     \
				off64_t offset)                                                    \
	{                                                                                          \
		struct heap_site site = HEAP_SITE();                                               \
		const struct wish wish = {address, size, protection, flags, fd, offset};           \
                                                                                                   \
		return map(&site, REAL(id), &wish);                                                \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

MMAP(map_file, "mmap");
MMAP(map_file64, "mmap64");

REAL_DEFINE(munmap);
PRELOAD_EXPORT int munmap(void *address, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = enter(&site);
	uint64_t begin = address_of(address);
	struct heap_cut cut;
	int r;

	if (!thread)
		return REAL(munmap)(address, size);
	forget(thread, begin, end_of(begin, size), &cut);
	r = REAL(munmap)(address, size);
	if (r != 0)
		restore(thread, begin, end_of(begin, size), &cut);
	heap_leave(thread);
	return r;
}

REAL_DEFINE(mremap);
PRELOAD_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = enter(&site);
	uint64_t begin = address_of(old);
	/* With MREMAP_DONTUNMAP the old mapping stays. */
	uint64_t end = flags & MREMAP_DONTUNMAP ? begin : end_of(begin, old_size);
	struct heap_cut cut;
	va_list arguments;
	void *result;
	void *place;

	va_start(arguments, flags);
	place = va_arg(arguments, void *);
	va_end(arguments);
	if (!thread)
		return REAL(mremap)(old, old_size, size, flags, place);
	forget(thread, begin, end, &cut);
	result = REAL(mremap)(old, old_size, size, flags, place);
	if (result != MAP_FAILED)
		add(thread, &site, address_of(result), size);
	else
		restore(thread, begin, end, &cut);
	heap_leave(thread);
	return result;
}

/*
 * The program's own calls: the C library's malloc() calls neither of these, and other allocators
 * are inside one of their calls, where enter() returns NULL.
 */
REAL_DEFINE(sbrk);
REAL_DEFINE(brk);

/* Records the result of moving the break; the range below it was already removed. */
static void say_break(struct preload_thread *thread, const struct heap_site *site, uint64_t old,
		      uint64_t wanted, const struct heap_cut *cut)
{
	uint64_t now = break_of(REAL(sbrk));

	if (now > old)
		add_range(thread, site, old, now);
	else if (now > wanted)
		restore(thread, wanted, now, cut);
}

PRELOAD_EXPORT void *sbrk(intptr_t increment)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = increment ? enter(&site) : NULL;
	uint64_t old = thread ? break_of(REAL(sbrk)) : 0;
	uint64_t now = old + (uint64_t)increment;
	struct heap_cut cut;
	void *result;

	if (!thread)
		return REAL(sbrk)(increment);
	forget(thread, now, old, &cut); /* nothing if it grows */
	result = REAL(sbrk)(increment);
	say_break(thread, &site, old, now, &cut);
	heap_leave(thread);
	return result;
}

PRELOAD_EXPORT int brk(void *end)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = end ? enter(&site) : NULL; /* else it is a query */
	uint64_t old = thread ? break_of(REAL(sbrk)) : 0;
	uint64_t now = address_of(end);
	struct heap_cut cut;
	int r;

	if (!thread)
		return REAL(brk)(end);
	forget(thread, now, old, &cut);
	r = REAL(brk)(end);
	say_break(thread, &site, old, now, &cut);
	heap_leave(thread);
	return r;
}
