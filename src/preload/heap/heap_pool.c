/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_pool: blocks of the program's own pools, as it reports them: include/wick/wick.h calls these
 * functions if they exist.
 */
#include "preload/heap/heap.h"
#include "preload/real_functions.h"
#include "wick/wick.h"

PRELOAD_EXPORT void wick_record_alloc(const void *block, size_t size)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = heap_skips(size) ? NULL : heap_enter(&site);

	heap_allocated(thread, &site, SESSION_POOL, block, size);
	heap_leave(thread);
}

PRELOAD_EXPORT void wick_record_free(const void *block)
{
	struct heap_site site = HEAP_SITE();
	struct preload_thread *thread = heap_skips_free(block) ? NULL : heap_enter(&site);

	heap_freed_at(thread, &site, SESSION_POOL, block);
	heap_leave(thread);
}
