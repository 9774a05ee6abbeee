/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_ARCH_NATIVE_H
#define WICK_BPF_ARCH_NATIVE_H

/*
 * native: what depends on the CPU that the BPF programs are built for. Each <cpu>.h has
 *
 *   struct cpu_registers        the user registers as the kernel stores them
 *   struct cpu_position         those of them that say where a task is in its program, and which
 *                               system call it is in; in the order in which they are in memory
 *   registers_…(), CPU_…, CALL_…   access to both
 *   preempt_count()             what the CPU is doing, as the kernel counts it; see interrupt.h
 *   thread_pointer_of()         where a thread's own variables are, when it last left its CPU
 *   THREAD_POINTER_MAY_BE_OLD   1: after an exec, it is the old one until the thread leaves its CPU
 */

#if defined(__TARGET_ARCH_arm64)
#include "bpf/arch/aarch64.h"
#elif defined(__TARGET_ARCH_x86)
#include "bpf/arch/x86_64.h"
#else
#error "the BPF programs support x86-64 and aarch64 only"
#endif

#endif
