/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_ARCH_NATIVE_H
#define WICK_PRELOAD_ARCH_NATIVE_H

/*
 * native: what the preload library needs from the CPU that it is built for. Each CPU has a header
 * here and a hook_gate_<cpu>.c.
 */

#if defined(__aarch64__)
#include "preload/arch/aarch64.h"
#elif defined(__x86_64__)
#include "preload/arch/x86_64.h"
#else
#error "wick runs on x86-64 and aarch64 only"
#endif

#endif
