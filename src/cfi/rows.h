/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ROWS_H
#define WICK_CFI_ROWS_H

/*
 * rows: collects the rows of functions in any order and lays them out as a table.
 *
 * Functions are sorted, not rows: those of one function are in order already, and linkers write
 * functions almost in order. Where functions overlap:
 *
 *	- of two that start at one pc, the first to be added counts;
 *	- a function ends where the next one starts;
 *	- a weak function (.debug_frame, PLT) never takes code from another.
 *
 * Code between functions gets "no rule", except for a gap of less than ROWS_MIN_GAP bytes: that is
 * padding, which is never executed, so the rule before it may continue.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "unwind/table.h"

struct cfi_table;

#define ROWS_MIN_GAP 16
#define ROWS_RECENT 4096

struct rows_function {
	uint32_t start; /* pcs are relative to the table's base */
	uint32_t end;
	uint32_t first_row;
	uint32_t row_count : 30;
	uint32_t is_weak : 1;
	uint32_t is_exact : 1; /* its rows are right at each instruction: no repair needed */
};

struct rows {
	VEC(struct unwind_rule) rules; /* rule 0 is "no rule" */
	VEC(struct unwind_row) rows;
	VEC(struct rows_function) functions;
	struct id_index rule_index;
	uint16_t recent[ROWS_RECENT]; /* rules by a fast hash, tried before the index */
	uint32_t lost_rules;          /* rules without a free index */
};

int rows_init(struct rows *rows);
void rows_fini(struct rows *rows);
/* Reserves memory for the rows of that much CFI; memory that is not used costs nothing. */
int rows_reserve(struct rows *rows, size_t cfi_bytes);

/* Starts a function; rows_add() adds to it. -E2BIG if there are far too many. */
int rows_begin(struct rows *rows, uint32_t start, uint32_t end, bool is_weak);
/* The rule applies from pc on; pcs of a function ascend. -E2BIG if there are far too many. */
int rows_add(struct rows *rows, uint32_t pc, const struct unwind_rule *rule);
/* Discards the function that was begun last. */
void rows_cancel(struct rows *rows);

/* The number of a rule, 0 for "no rule" and if no number is left; or -ENOMEM. */
int rows_intern(struct rows *rows, const struct unwind_rule *rule);

/* Sorts the functions and resolves overlaps. */
int rows_sort(struct rows *rows);
/* Lays out the table. After rows_sort(). */
int rows_finish(struct rows *rows, uint64_t base, uint16_t machine, struct cfi_table *ret);

#endif
