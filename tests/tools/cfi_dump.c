/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * cfi_dump [--repair] ELF...: prints unwind tables as text, for comparisons with readelf.
 *
 *	# ELF fdes N bad N raw N rows N rules N unusual N repaired N
 *	VADDR CFA RA FP
 *
 * CFA is "s+16", "f+16", "r10+8", "plt11", "*s+8+16", "*f-8+8", "signal" or "-";
 * RA is "c-8", "lr", "root", "r3"; FP is "c-16", "same" or "?".
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cfi/compile.h"
#include "elf/elf.h"

static void print_cfa(const struct unwind_rule *rule)
{
	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		printf("s%+d", rule->cfa_offset);
		break;
	case UNWIND_CFA_FP:
		printf("f%+d", rule->cfa_offset);
		break;
	case UNWIND_CFA_FP_AWAY:
		printf("away%+d", rule->cfa_offset);
		break;
	case UNWIND_CFA_REGISTER:
		printf("r%u%+d", rule->cfa_register, rule->cfa_offset);
		break;
	case UNWIND_CFA_PLT:
		printf("plt%d", rule->cfa_extra);
		break;
	case UNWIND_CFA_DEREF_SP:
	case UNWIND_CFA_DEREF_FP:
		printf("*%c%+d%+d", rule->cfa == UNWIND_CFA_DEREF_SP ? 's' : 'f', rule->cfa_offset,
		       rule->cfa_extra);
		break;
	case UNWIND_CFA_SIGNAL:
		printf("signal");
		break;
	default:
		printf("-");
		break;
	}
}

static void print_rule(const struct unwind_rule *rule)
{
	static const char *const fixed[] = {[UNWIND_RA_IN_LR] = "lr", [UNWIND_RA_ROOT] = "root"};

	print_cfa(rule);
	if (rule->ra == UNWIND_RA_AT_CFA)
		printf(" c%+d", rule->ra_offset);
	else if (rule->ra == UNWIND_RA_REGISTER)
		printf(" r%d", rule->ra_offset);
	else
		printf(" %s", fixed[rule->ra]);
	if (rule->fp == UNWIND_FP_AT_CFA)
		printf(" c%+d\n", rule->fp_offset);
	else if (rule->fp == UNWIND_FP_AT_FP)
		printf(" f%+d\n", rule->fp_offset);
	else
		printf(" %s\n", rule->fp == UNWIND_FP_SAME ? "same" : "?");
}

static int dump(const char *path, bool repair)
{
	struct cfi_table compiled;
	struct cfi_stats stats;
	struct elf_file *elf = NULL;
	struct error err = {0};
	int r = elf_open(path, &elf, &err);

	if (r == 0)
		r = repair ? cfi_compile(elf, &compiled, &stats, &err)
			   : cfi_compile_as_written(elf, &compiled, &stats, &err);
	elf_close(elf);
	if (r < 0) {
		fprintf(stderr, "cfi_dump: %s: %s\n", path, err.text);
		return 1;
	}
	const struct unwind_table *table = &compiled.table;
	printf("# %s fdes %" PRIu32 " bad %" PRIu32 " raw %" PRIu32 " rows %" PRIu32
	       " rules %" PRIu32 " unusual %" PRIu32 " repaired %" PRIu32 "\n",
	       path, stats.fdes, stats.bad_fdes, stats.raw_rows, table->row_count,
	       table->rule_count, stats.unusual_rules, stats.repaired_rows);
	for (uint32_t i = 0; i < table->row_count; i++) {
		printf("%" PRIx64 " ", table->base + table->rows[i].pc);
		print_rule(&table->rules[table->rows[i].rule]);
	}
	cfi_table_fini(&compiled);
	return 0;
}

int main(int argc, char **argv)
{
	bool repair = argc > 1 && strcmp(argv[1], "--repair") == 0;
	int status = 0;

	for (int i = repair ? 2 : 1; i < argc; i++)
		status |= dump(argv[i], repair);
	return status;
}
