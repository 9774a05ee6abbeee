/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_ARCH_AARCH64_H
#define WICK_PROCESS_STACKS_ARCH_AARCH64_H

/* aarch64: see process_stacks/arch/native.h. */

#include "process_stacks/arch/register_place.h"

/* By DWARF number. */
#define SAME(n)                                                                                    \
	{                                                                                          \
		n, n                                                                               \
	}
static const struct register_place register_places[] = {
	SAME(0),  SAME(1),  SAME(2),  SAME(3),  SAME(4),  SAME(5),  SAME(6),  SAME(7),
	SAME(8),  SAME(9),  SAME(10), SAME(11), SAME(12), SAME(13), SAME(14), SAME(15),
	SAME(16), SAME(17), SAME(18), SAME(19), SAME(20), SAME(21), SAME(22), SAME(23),
	SAME(24), SAME(25), SAME(26), SAME(27), SAME(28), SAME(29), SAME(30), SAME(31),
};
static const struct register_place pc_register_place = SAME(32);
#define PTRACE_WORDS 34

/* The set of registers that has the thread pointer, and its place there. */
#define THREAD_POINTER_SET NT_ARM_TLS
#define THREAD_POINTER_WORD 0u

/* Of a thread that is stopped in a system call: its number, and its first argument. */
#define CALL_NUMBER_WORD 8u
#define CALL_ARGUMENT_WORD 0u

#endif
