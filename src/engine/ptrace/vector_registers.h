/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_VECTOR_REGISTERS_H
#define WICK_ENGINE_PTRACE_VECTOR_REGISTERS_H

/*
 * vector_registers: the contents of a thread's floating-point and vector registers. Compilers copy
 * pointers through them, two or more at a time, so a pointer may be nowhere else.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Upper limit for the words of these registers. */
#define VECTOR_REGISTERS_WORDS 2048u

/*
 * Reads the nonzero words of a thread that is in a ptrace stop of the caller. Returns their number;
 * 0 also if the kernel does not provide them.
 */
size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS]);

/* For the files of arch/: reads one of the kernel's sets of registers; returns how many words it
 * has. */
size_t vector_registers_set(pid_t tid, uintptr_t set, uint64_t *ret);
/*
 * Moves the words in [from, end) that are not 0 to the end of the kept ones; returns how many are
 * then kept.
 */
size_t vector_registers_keep(uint64_t *words, size_t kept, size_t from, size_t end);

#endif
