/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_new: operator new and delete of C++, which allocators bring as functions of their
 * own that call no malloc(). What they call of others is not counted again.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "inproc/heap.h"
#include "inproc/real.h"

/*
 * The real function of a name. A program that is no C++ may load parts that are: these find
 * our function by the program's scope, but the next one only by their own.
 */
static void *find(const char *name, uint64_t caller)
{
	void *function = dlsym(RTLD_NEXT, name);
	Dl_info info;
	void *object;

	if (function || !dladdr((void *)(uintptr_t)caller, &info) || !info.dli_fname)
		return function;
	object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	function = object ? dlsym(object, name) : NULL;
	if (object)
		(void)dlclose(object);
	return function;
}

/* Where there is none at all, new and delete are malloc() and free(). */
static void *allocate(size_t size)
{
	void *block = malloc(size ? size : 1);

	if (!block)
		abort(); /* as for any exception that nobody can throw */
	return block;
}

#define NEW(id, symbol, call, parameters, arguments)                                               \
	extern void *id parameters __asm__(symbol);                                                \
	INPROC_EXPORT void *id parameters                                                          \
	{                                                                                          \
		static __typeof__(&id) real;                                                       \
		struct heap_site site = HEAP_SITE();                                               \
		struct inproc_thread *thread = heap_enter(&site);                                  \
		void *block;                                                                       \
                                                                                                   \
		if (!real)                                                                         \
			real = (__typeof__(&id))find(symbol, site.pc);                             \
		block = real && real != id ? real arguments : allocate(size);                      \
		heap_allocated(thread, &site, call, block, size);                                  \
		heap_leave(thread);                                                                \
		return block;                                                                      \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

#define DELETE(id, symbol, call, parameters, arguments)                                            \
	extern void id parameters __asm__(symbol);                                                 \
	INPROC_EXPORT void id parameters                                                           \
	{                                                                                          \
		static __typeof__(&id) real;                                                       \
		struct heap_site site = HEAP_SITE();                                               \
		struct inproc_thread *thread = heap_enter(&site);                                  \
                                                                                                   \
		heap_freed_at(thread, &site, call, block);                                         \
		if (!real)                                                                         \
			real = (__typeof__(&id))find(symbol, site.pc);                             \
		if (real && real != id)                                                            \
			real arguments;                                                            \
		else                                                                               \
			free(block);                                                               \
		heap_leave(thread);                                                                \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

/* align_val_t is a number, nothrow_t a reference. */
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
