/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_ARCH_NATIVE_H
#define WICK_SAFE_ARCH_NATIVE_H

/*
 * native: what system calls, registers and counters need to know about the CPU this is built for.
 */

#if defined(__aarch64__)
#include "safe/arch/aarch64.h"
#elif defined(__x86_64__)
#include "safe/arch/x86_64.h"
#else
#error "wick runs on x86-64 and aarch64 only"
#endif

#endif
