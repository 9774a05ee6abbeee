/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_VECTOR_REGISTERS_H
#define WICK_ENGINE_PTRACE_VECTOR_REGISTERS_H

/*
 * vector_registers: what a thread has in its registers for floating point and vectors. Compilers
 * copy pointers by them, two and more at a time, so one may be nowhere else.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As many words as the registers of a thread may have. */
#define VECTOR_REGISTERS_WORDS 2048u

/*
 * The words that are not 0, of a thread that is in a ptrace stop of the caller. Returns how many;
 * 0 also where the kernel does not say.
 */
size_t vector_registers_read(pid_t tid, uint64_t ret[VECTOR_REGISTERS_WORDS]);

/* For the files of arch/: reads one of the kernel's sets of registers; returns how many words it
 * has. */
size_t vector_registers_set(pid_t tid, uintptr_t set, uint64_t *ret);
/* Moves words [from, end) that are not 0 behind the kept ones; returns how many are kept then. */
size_t vector_registers_keep(uint64_t *words, size_t kept, size_t from, size_t end);

#endif
