/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_REAL_FUNCTIONS_H
#define WICK_PRELOAD_REAL_FUNCTIONS_H

/*
 * real_functions: the functions that ours interpose.
 *
 * They are resolved on first use, because programs call some before our constructor has run. The
 * constructor resolves all of them, so none is resolved in a signal handler.
 */

#include <dlfcn.h>

#define REAL_FUNCTION(name) extern __typeof__(&name) real_##name

/* Use in one file for each function: defines the pointer and resolves it. */
#define REAL_DEFINE(name)                                                                          \
	__typeof__(&name) real_##name;                                                             \
	__attribute__((constructor(101))) static void resolve_##name(void)                         \
	{                                                                                          \
		if (!real_##name)                                                                  \
			real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                  \
	}                                                                                          \
	_Static_assert(1, "takes a semicolon")

#define REAL(name) (real_##name ? real_##name : (resolve_##name(), real_##name))

/* Exports our function to the program in place of the real one. */
#define PRELOAD_EXPORT __attribute__((visibility("default")))

#endif
