/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_EXPRESSION_H
#define WICK_CFI_EXPRESSION_H

/*
 * expression: recognises the DWARF expressions that CFI contains in practice.
 *
 *	register + offset                   a plain address, written at length
 *	*(register + offset) + extra        OpenSSL keeps the old stack pointer in memory,
 *	*(register + offset + 8 * index) + extra    after a number of words that its caller chooses
 *	sp + 8 + ((pc & 15) >= n) * 8       x86-64 PLTs; n is 11 or 10, depending on the linker
 *
 * Everything else is EXPRESSION_OTHER: nothing is evaluated.
 */

#include <stdint.h>

struct cfi_machine;

enum expression_kind {
	EXPRESSION_OTHER,
	EXPRESSION_REGISTER, /* reg + offset */
	EXPRESSION_DEREF,    /* *(reg + offset + 8 * index) + extra */
	EXPRESSION_PLT,      /* extra is n */
};

struct expression {
	enum expression_kind kind;
	uint8_t reg;
	uint8_t index; /* a register; 0: none */
	int64_t offset;
	int64_t extra;
};

struct expression expression_recognise(const struct cfi_machine *machine, const uint8_t *bytes,
				       uint32_t size);

#endif
