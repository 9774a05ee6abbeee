/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_ARCH_X86_64_H
#define WICK_PROCESS_STACKS_ARCH_X86_64_H

/* x86_64: see process_stacks/arch/native.h. */

#include "process_stacks/arch/register_place.h"

/* By DWARF number. */
static const struct register_place register_places[] = {
	{10, 0}, {12, 3}, {11, 2}, {5, 1},  {13, 4}, {14, 5}, {4, 6},  {19, 7}, /* rax … rsp */
	{9, 16}, {8, 17}, {7, 18}, {6, 19}, {3, 20}, {2, 21}, {1, 22}, {0, 23}, /* r8 … r15 */
};
static const struct register_place pc_register_place = {16, 8};
#define PTRACE_WORDS 27

/* The set of registers that has the thread pointer (fs_base), and its place there. */
#define THREAD_POINTER_SET NT_PRSTATUS
#define THREAD_POINTER_WORD 21u

/* Of a thread that is stopped in a system call: its number (orig_rax), and its first argument. */
#define CALL_NUMBER_WORD 15u
#define CALL_ARGUMENT_WORD 14u

#endif
