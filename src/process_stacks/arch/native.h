/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_ARCH_NATIVE_H
#define WICK_PROCESS_STACKS_ARCH_NATIVE_H

/* native: where ptrace and perf keep the registers of the CPU this is built for. */

#if defined(__aarch64__)
#include "process_stacks/arch/aarch64.h"
#elif defined(__x86_64__)
#include "process_stacks/arch/x86_64.h"
#else
#error "wick runs on x86-64 and aarch64 only"
#endif

#endif
