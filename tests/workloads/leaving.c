/* SPDX-License-Identifier: BSD-2-Clause */
/* leaving: see leaving.h. What it gives is what the C library does. */
#include "leaving.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define PAGE_BYTES 65536u

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

EXPORT __thread void (*leaving_hook)(void) __attribute__((tls_model("initial-exec")));

static void maybe_leave(void)
{
	void (*hook)(void) = leaving_hook;

	if (hook)
		hook();
}

#define FUNCTION(type, name, parameters, ...)                                                      \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		maybe_leave();                                                                     \
		__VA_ARGS__                                                                        \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

FUNCTION(void *, malloc, (size_t size), return __libc_malloc(size););
FUNCTION(void *, calloc, (size_t count, size_t size), return __libc_calloc(count, size););
FUNCTION(void *, realloc, (void *block, size_t size), return __libc_realloc(block, size););
FUNCTION(void, free, (void *block), __libc_free(block););
FUNCTION(void *, memalign, (size_t alignment, size_t size),
	 return __libc_memalign(alignment, size););
FUNCTION(void *, aligned_alloc, (size_t alignment, size_t size),
	 return __libc_memalign(alignment, size););
FUNCTION(void *, valloc, (size_t size), return __libc_memalign(PAGE_BYTES, size););
FUNCTION(void *, pvalloc, (size_t size), return __libc_memalign(PAGE_BYTES, size););
FUNCTION(void *, reallocarray, (void *block, size_t count, size_t size),
	 return __libc_realloc(block, count *size););
FUNCTION(int, posix_memalign, (void **ret, size_t alignment, size_t size),
	 *ret = __libc_memalign(alignment, size);
	 return *ret ? 0 : ENOMEM;);
