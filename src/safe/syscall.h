/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_SYSCALL_H
#define WICK_SAFE_SYSCALL_H

/*
 * syscall: system calls from code that runs inside a watched program.
 *
 * The C library's functions set errno, may be cancelled, and may be replaced by other functions of
 * that name. These make only the call and return the kernel's result: a negative errno on failure.
 */

#include <stdint.h>
#include <sys/syscall.h>

#include "safe/arch/native.h"

/* A system call by its number, with up to six arguments; the others are 0. */
#define safe_syscall(number, ...) arch_call((number), (const long[6]){__VA_ARGS__})

#define SAFE_POINTER(pointer) ((long)(uintptr_t)(pointer))

#endif
