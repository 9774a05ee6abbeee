/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_REAL_FUNCTIONS_H
#define WICK_PRELOAD_REAL_FUNCTIONS_H

/*
 * real_functions: the functions that ours take the place of.
 *
 * Found when they are first needed: programs call some before our constructor
 * has run. After that it has found all (real_resolve()), so none is searched for
 * in a signal handler.
 */

#include <dlfcn.h>

#define REAL_FUNCTION(name) extern __typeof__(&name) real_##name

/* In one file for each: the pointer and the way to fill it. */
#define REAL_DEFINE(name)                                                                          \
	__typeof__(&name) real_##name;                                                             \
	__attribute__((constructor(101))) static void resolve_##name(void)                         \
	{                                                                                          \
		if (!real_##name)                                                                  \
			real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                  \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

#define REAL(name) (real_##name ? real_##name : (resolve_##name(), real_##name))

/* What the program sees instead of the function of that name. */
#define PRELOAD_EXPORT __attribute__((visibility("default")))

#endif
