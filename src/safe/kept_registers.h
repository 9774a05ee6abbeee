/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_KEPT_REGISTERS_H
#define WICK_SAFE_KEPT_REGISTERS_H

/* kept_registers: the values of the registers that a function must preserve. */

#include <stdint.h>

#include "safe/arch/native.h"

#define SAFE_KEPT_REGISTERS 19u

/* Fills as much of ret as the CPU has registers, and returns the stack pointer. */
static inline __attribute__((always_inline)) uint64_t safe_kept_registers(uint64_t *ret)
{
	return arch_kept_registers(ret);
}

#endif
