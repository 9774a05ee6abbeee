/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/a64_plt.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>

#include "base/vec.h"
#include "cfi/rows.h"
#include "elf/elf.h"

#define FIRST_ENTRY_WORDS 8
#define WORD_BYTES 4u
#define SAVED_BYTES 16
#define SAVE_X16_X30 0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */

static const struct unwind_rule entry_rule = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR};
static const struct unwind_rule saved_rule = {
	.cfa = UNWIND_CFA_SP, .cfa_offset = SAVED_BYTES, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8};

/*
 * The instruction of the first entry that saves x30; FIRST_ENTRY_WORDS if it is not such a table.
 */
static uint32_t find_save(struct elf_file *elf, const struct elf_section *plt)
{
	uint32_t words[FIRST_ENTRY_WORDS];
	uint32_t i = 0;

	if (plt->size < sizeof(words) || elf_read_at(elf, plt->offset, words, sizeof(words)) < 0)
		return FIRST_ENTRY_WORDS;
	while (i < FIRST_ENTRY_WORDS && words[i] != SAVE_X16_X30)
		i++;
	return i;
}

int cfi_add_plt(struct elf_file *elf, uint64_t base, struct rows *rows)
{
	const struct elf_section *plt = elf_section_find(elf, ".plt");
	uint64_t start = plt ? plt->addr - base : 0;
	uint32_t save;
	int r;

	if (!plt || plt->type != SHT_PROGBITS || !(plt->flags & SHF_EXECINSTR) ||
	    plt->addr < base || start >= UINT32_MAX || plt->size == 0 ||
	    plt->size >= UINT32_MAX - start)
		return 0;
	save = find_save(elf, plt);
	r = rows_begin(rows, (uint32_t)start, (uint32_t)(start + plt->size), true);
	if (r == 0)
		r = rows_add(rows, (uint32_t)start, &entry_rule);
	if (r < 0 || save == FIRST_ENTRY_WORDS)
		return r;
	r = rows_add(rows, (uint32_t)start + (save + 1) * WORD_BYTES, &saved_rule);
	if (r == 0)
		r = rows_add(rows, (uint32_t)start + FIRST_ENTRY_WORDS * WORD_BYTES, &entry_rule);
	return r;
}

void cfi_correct_resolver(struct rows *rows)
{
	for (size_t i = 1; i < rows->rules.count; i++) {
		struct unwind_rule *rule = &rows->rules.items[i];

		if ((rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_FP) ||
		    rule->ra != UNWIND_RA_AT_CFA ||
		    rule->ra_offset != saved_rule.ra_offset + SAVED_BYTES ||
		    rule->cfa_offset > INT32_MAX - SAVED_BYTES)
			continue;
		rule->cfa_offset += SAVED_BYTES;
		rule->ra_offset -= SAVED_BYTES;
		if (rule->fp == UNWIND_FP_AT_CFA && rule->fp_offset >= INT32_MIN + SAVED_BYTES)
			rule->fp_offset -= SAVED_BYTES;
	}
}
