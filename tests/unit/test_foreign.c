/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the CPU that this machine does not have, as its compiler makes them:
 * FOREIGN_LIBRARY is foreign_library.c, cross-compiled; "" without a compiler.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cfi/compile.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"
#include "unwind/arch/native.h"

struct fixture {
	struct elf_file *elf;
	struct elf_symbols *symbols;
	struct cfi_table table;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	struct error err = {0};

	if (elf_open(FOREIGN_LIBRARY, &fixture.elf, &err) < 0 ||
	    elf_symbols_read(fixture.elf, &fixture.symbols, &err) < 0 ||
	    cfi_compile(fixture.elf, &fixture.table, NULL, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	cfi_table_fini(&f->table);
	elf_symbols_free(f->symbols);
	elf_close(f->elf);
	return 0;
}

static bool is_arm(const struct fixture *f)
{
	return elf_machine(f->elf) == EM_AARCH64;
}

/* The first address of a function, and the first after it. */
static void find_function(const struct fixture *f, const char *name, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	*ret_start = *ret_end = 0;
	for (uint32_t i = 0; i < elf_symbols_count(f->symbols); i++) {
		struct elf_symbol symbol = elf_symbols_at(f->symbols, i);

		if (strcmp(symbol.name, name) == 0) {
			*ret_start = symbol.start;
			*ret_end = symbol.start + symbol.size;
		}
	}
	assert_true(*ret_end > *ret_start);
}

static struct unwind_rule rule_at(const struct fixture *f, uint64_t vaddr)
{
	const struct unwind_rule *rule = unwind_table_find(&f->table.table, vaddr);

	assert_non_null(rule);
	return rule ? *rule : (struct unwind_rule){0};
}

static void the_other_machine_and_the_build_id_are_read(void **state)
{
	struct fixture *f = *state;

	assert_int_not_equal(elf_machine(f->elf), UNWIND_NATIVE.machine);
	assert_int_equal(f->table.table.machine, elf_machine(f->elf));
	assert_int_equal(elf_build_id(f->elf)->size, 20);
}

static void a_leaf_has_the_rule_of_its_cpu_throughout(void **state)
{
	struct fixture *f = *state;
	uint64_t start;
	uint64_t end;

	find_function(f, "foreign_leaf", &start, &end);
	for (uint64_t at = start; at < end; at++) {
		struct unwind_rule rule = rule_at(f, at);

		assert_int_equal(rule.cfa, UNWIND_CFA_SP);
		assert_int_equal(rule.cfa_offset, is_arm(f) ? 0 : 8);
		assert_int_equal(rule.ra, is_arm(f) ? UNWIND_RA_IN_LR : UNWIND_RA_AT_CFA);
	}
}

static void a_function_with_a_frame_has_rules_from_its_first_to_its_last_byte(void **state)
{
	struct fixture *f = *state;
	int32_t largest = 0;
	uint64_t start;
	uint64_t end;

	find_function(f, "foreign_caller", &start, &end);
	for (uint64_t at = start; at < end; at++) {
		struct unwind_rule rule = rule_at(f, at);

		if (rule.cfa_offset > largest)
			largest = rule.cfa_offset;
	}
	assert_true(largest >= 64); /* the array alone */
	assert_int_equal(rule_at(f, start).cfa_offset, is_arm(f) ? 0 : 8);
}

static void every_section_of_code_has_rules_the_plt_too(void **state)
{
	struct fixture *f = *state;
	const struct elf_section *plt = elf_section_find(f->elf, ".plt");

	assert_non_null(plt);
	for (uint64_t at = plt->addr; at < plt->addr + plt->size; at++)
		(void)rule_at(f, at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_machine_and_the_build_id_are_read),
		cmocka_unit_test(a_leaf_has_the_rule_of_its_cpu_throughout),
		cmocka_unit_test(a_function_with_a_frame_has_rules_from_its_first_to_its_last_byte),
		cmocka_unit_test(every_section_of_code_has_rules_the_plt_too),
	};

	if (FOREIGN_LIBRARY[0] == '\0') {
		(void)puts("no compiler for the other CPU (scripts/install-deps vm)");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
