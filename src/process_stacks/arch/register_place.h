/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_ARCH_REGISTER_PLACE_H
#define WICK_PROCESS_STACKS_ARCH_REGISTER_PLACE_H

#include <stdint.h>

/* The position of a register for ptrace (in words) and perf (in bits). */
struct register_place {
	uint8_t ptrace;
	uint8_t perf;
};

#endif
