/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_SYSCALL_H
#define WICK_SAFE_SYSCALL_H

/*
 * syscall: calls of the kernel from code that runs inside a watched program.
 *
 * Those of the C library set errno, may be cancelled, and may be somebody else's
 * functions of that name. These do nothing but the call: they return what the
 * kernel returns, a negative errno for a failure.
 */

#include <stdint.h>
#include <sys/syscall.h>

#include "safe/arch/native.h"

/* A call of the kernel by its number, with up to six arguments; the others are 0. */
#define safe_syscall(number, ...) arch_call((number), (const long[6]){__VA_ARGS__})

#define SAFE_POINTER(pointer) ((long)(uintptr_t)(pointer))

#endif
