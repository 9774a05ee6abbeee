/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_DEMANGLE_H
#define WICK_SYMBOL_DEMANGLE_H

/*
 * demangle: linker names of C++, Rust and D as their authors wrote them, without return types and
 * without the hash of Rust names.
 *
 * Names are not trusted: input and output are limited, deep nesting is refused.
 */

/*
 * Returns readable text that the caller frees, or NULL if the name is not mangled, is malformed,
 * exceeds the limits or memory ran out: then it is shown unchanged.
 */
char *demangle(const char *name);

#endif
