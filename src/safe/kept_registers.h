/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SAFE_KEPT_REGISTERS_H
#define WICK_SAFE_KEPT_REGISTERS_H

/* kept_registers: what a function finds in the registers that it must leave as they are. */

#include <stdint.h>

#include "safe/arch/native.h"

#define SAFE_KEPT_REGISTERS 19u

/* Fills ret, as far as the CPU has so many, and returns the stack pointer. */
static inline __attribute__((always_inline)) uint64_t safe_kept_registers(uint64_t *ret)
{
	return arch_kept_registers(ret);
}

#endif
