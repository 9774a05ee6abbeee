/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_MODULE_H
#define WICK_UNWIND_MODULE_H

/*
 * module: which code is where, and the rule for a pc in it. Freestanding, and inline: a walk
 * without a cache spends most of its time here.
 */

#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

/* 128 bytes of code have few rows. */
#define UNWIND_PAGE_SHIFT 7
#define UNWIND_FEW_ROWS 16

/* A range of code. Modules are sorted by start and do not overlap. */
struct unwind_module {
	uint64_t start; /* runtime addresses */
	uint64_t end;
	uint64_t bias;                    /* runtime address - ELF vaddr */
	const struct unwind_table *table; /* NULL: code without CFI (JIT, vdso) */
	const uint32_t *pages;            /* optional, see unwind_pages_fill() */
};

/* The module that contains a pc, or NULL. */
static inline const struct unwind_module *unwind_module_find(const struct unwind_module *modules,
							     size_t count, uint64_t pc)
{
	const struct unwind_module *base = modules;

	if (count == 0)
		return NULL;
	while (count > 1) {
		size_t half = count / 2;

		if (base[half].start <= pc)
			base += half;
		count -= half;
	}
	return pc >= base->start && pc < base->end ? base : NULL;
}

/*
 * The row of pc, from first to last. A few rows are searched linearly: for recurring stacks the CPU
 * predicts where that ends, and continues without waiting for the rows.
 */
static inline uint32_t unwind_row_between(const struct unwind_table *table, uint32_t first,
					  uint32_t last, uint32_t pc)
{
	const struct unwind_row *base = table->rows + first;
	uint32_t count = last - first + 1;

	if (count <= UNWIND_FEW_ROWS) {
		while (first < last && table->rows[first + 1].pc <= pc)
			first++;
		return first;
	}
	while (count > 1) {
		uint32_t half = count / 2;

		if (base[half].pc <= pc)
			base += half;
		count -= half;
	}
	return (uint32_t)(base - table->rows);
}

/*
 * The rule for a runtime pc of a module, or NULL. With pages, only the few rows of 128 bytes of
 * code are searched instead of all.
 */
static inline __attribute__((always_inline)) const struct unwind_rule *unwind_module_rule(
	const struct unwind_module *module, uint64_t pc)
{
	const struct unwind_table *table = module->table;
	uint64_t offset;
	uint32_t last;
	uint32_t row;

	if (!table || table->row_count == 0)
		return NULL;
	if (!module->pages)
		return unwind_table_find(table, pc - module->bias);
	offset = pc - module->bias - table->base;
	last = table->rows[table->row_count - 1].pc;
	if (offset < table->rows[0].pc || offset > UINT32_MAX)
		return NULL;
	if (offset >= last) {
		row = table->row_count - 1;
	} else {
		uint32_t page = (uint32_t)offset >> UNWIND_PAGE_SHIFT;

		row = unwind_row_between(table, module->pages[page], module->pages[page + 1],
					 (uint32_t)offset);
	}
	if (table->rows[row].rule == 0 || table->rows[row].rule >= table->rule_count)
		return NULL;
	return &table->rules[table->rows[row].rule];
}

#endif
