/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_TABLE_H
#define WICK_UNWIND_TABLE_H

/*
 * table: where a function's caller is found, for every pc of a module.
 *
 * Sorted rows of 8 bytes say from which pc on which rule applies; a small dictionary has the rules.
 * A row applies up to the next one. Code without CFI has rows with rule 0, "no rule".
 *
 *	pc      0x1000         0x1004         0x1040       0x1044
 *	rule    1: cfa=sp      2: cfa=sp+32   1: cfa=sp    0: none
 *	           ra=lr          ra=[cfa-24]    ra=lr
 *
 * Freestanding: used inside the watched program, by BPF programs and by tools. The cache file has
 * the same bytes, so all members have fixed widths.
 */

#include <stddef.h>
#include <stdint.h>

struct unwind_row {
	uint32_t pc;   /* vaddr - table.base */
	uint16_t rule; /* index into the rules */
	uint16_t zero;
};

enum unwind_cfa {
	UNWIND_CFA_NONE = 0,     /* no rule: nothing is known about this code */
	UNWIND_CFA_SP = 1,       /* sp + cfa_offset */
	UNWIND_CFA_FP = 2,       /* fp + cfa_offset */
	UNWIND_CFA_REGISTER = 3, /* register cfa_register + cfa_offset; if it is known */
	UNWIND_CFA_PLT = 4,      /* x86-64: sp + 8 + ((pc & 15) >= cfa_extra ? 8 : 0) */
	/* *(sp + cfa_offset + 8 * register) + cfa_extra, if a register is given */
	UNWIND_CFA_DEREF_SP = 5,
	UNWIND_CFA_DEREF_FP = 6, /* *(fp + cfa_offset) + cfa_extra */
	UNWIND_CFA_SIGNAL = 7,   /* a signal trampoline: all registers are in the frame */
	UNWIND_CFA_FP_AWAY = 8,  /* fp + cfa_offset; sp may be on another stack */
};

enum unwind_ra {
	UNWIND_RA_AT_CFA = 0,   /* *(cfa + ra_offset) */
	UNWIND_RA_IN_LR = 1,    /* still in the link register (aarch64) */
	UNWIND_RA_ROOT = 2,     /* undefined: this is where the thread began */
	UNWIND_RA_REGISTER = 3, /* in register ra_offset (DWARF number); leaf frames only */
};

enum unwind_fp {
	UNWIND_FP_SAME = 0,    /* the caller's is in the register */
	UNWIND_FP_AT_CFA = 1,  /* *(cfa + fp_offset) */
	UNWIND_FP_UNKNOWN = 2, /* in a place that our rules cannot express */
	UNWIND_FP_AT_FP = 3,   /* *(fp + fp_offset); if the CFA is relative to something else */
};

/*
 * A module with code whose CFA is relative to one more register (glibc's lazy resolver uses rbx)
 * tracks that register through all of its code: rules of UNWIND_CFA_SP and UNWIND_CFA_FP then have
 * its number in cfa_register, and in cfa_extra where the caller's value is, relative to the CFA; 0:
 * still in the register. 0 in cfa_register means that it is unknown; no such register has the
 * number 0.
 */
struct unwind_rule {
	uint8_t cfa;          /* enum unwind_cfa */
	uint8_t cfa_register; /* DWARF number, for UNWIND_CFA_REGISTER; or the tracked one */
	uint8_t ra;           /* enum unwind_ra */
	uint8_t fp;           /* enum unwind_fp */
	int32_t cfa_offset;
	int32_t cfa_extra;
	int32_t ra_offset;
	int32_t fp_offset;
};

_Static_assert(sizeof(struct unwind_row) == 8, "rows are part of the cache file");
_Static_assert(sizeof(struct unwind_rule) == 20, "rules are part of the cache file");

/* A table in memory; rows are sorted by pc and unique. */
struct unwind_table {
	const struct unwind_row *rows;
	const struct unwind_rule *rules; /* rule 0 is UNWIND_CFA_NONE */
	uint32_t row_count;
	uint32_t rule_count;
	uint64_t base;    /* vaddr that the pcs of rows are relative to */
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
};

/* The rule for an ELF vaddr, NULL if the table has none for it. */
static inline const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
							  uint64_t vaddr)
{
	uint64_t pc = vaddr - table->base;
	uint32_t low = 0;
	uint32_t high = table->row_count;

	if (pc > UINT32_MAX || table->row_count == 0 || pc < table->rows[0].pc)
		return NULL;
	while (high - low > 1) { /* rows[low].pc <= pc < rows[high].pc */
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].pc <= pc)
			low = middle;
		else
			high = middle;
	}
	if (table->rows[low].rule >= table->rule_count || table->rows[low].rule == 0)
		return NULL;
	return &table->rules[table->rows[low].rule];
}

#endif
