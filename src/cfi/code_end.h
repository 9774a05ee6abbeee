/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_CODE_END_H
#define WICK_CFI_CODE_END_H

/*
 * code_end: finds the end of a function without a known size, from its instructions.
 *
 * It ends after the first instruction that does not fall through, a return or a jump, if no earlier
 * branch leads further. The result is too small if a jump goes through a table, too large if the
 * last instruction is a call that never returns; both are rare in hand-written code, which is what
 * lacks sizes.
 */

#include <stdint.h>

/*
 * The size of the function that begins with the code. At most size, also if the code cannot be
 * followed further. 0 for an unknown CPU (not EM_X86_64, EM_AARCH64).
 */
uint64_t code_end_find(uint16_t machine, const uint8_t *code, uint64_t size);

#endif
