/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_CODE_END_H
#define WICK_CFI_CODE_END_H

/*
 * code_end: where a function ends whose size nobody wrote down, by its instructions.
 *
 * It ends behind the first instruction that does not go on to the next one, a return or
 * a jump, with no branch before it that leads further. The answer is too small where a
 * jump goes through a table, too large where the last instruction is a call that never
 * returns; hand-written code, which lacks sizes, has few of either.
 */

#include <stdint.h>

/*
 * The size of the function that begins with the code, at most size: also where the code
 * cannot be followed further. 0 for a CPU that is not known (not EM_X86_64, EM_AARCH64).
 */
uint64_t code_end_find(uint16_t machine, const uint8_t *code, uint64_t size);

#endif
