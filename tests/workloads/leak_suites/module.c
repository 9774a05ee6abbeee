/* SPDX-License-Identifier: BSD-2-Clause */

/* module: is loaded by roots, with more thread-local memory than fits beside the program's. */

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static __thread void *of_thread[(1 << 20) / sizeof(void *)];

EXPORT void *module_keep(void *pointer);
EXPORT void *module_keep(void *pointer)
{
	of_thread[100] = pointer;
	__asm__ volatile("" : : "r"(of_thread) : "memory");
	return of_thread[100];
}

EXPORT void *module_that_was_closed__lose(size_t size);
EXPORT void *module_that_was_closed__lose(size_t size)
{
	void *made = malloc(size);

	return made ? memset(made, 0x11, size) : NULL;
}
