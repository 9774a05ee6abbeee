/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

#define PLENTY (64u << 20)

struct world {
	struct elf_file *elf; /* this program */
	struct elf_symbols *symbols;
	struct bytes file;
	struct elf_file *made;
	struct elf_symbols *again;
};

static const struct build_id id = {.size = 20, .bytes = {0xab, 0xcd, 1, 2, 3}};

static int make(struct world *world, size_t max_bytes, struct error *err)
{
	const struct elf_symbols *tables[] = {world->symbols};
	struct symbol_file_source source = {
		.tables = tables, .table_count = 1, .build_id = &id, .machine = EM_AARCH64};

	return symbol_file_make(&source, max_bytes, &world->file, err);
}

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){0};
	assert_int_equal(elf_open("/proc/self/exe", &world.elf, NULL), 0);
	assert_int_equal(elf_symbols_read(world.elf, &world.symbols, NULL), 0);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	elf_symbols_free(world->again);
	elf_close(world->made);
	bytes_fini(&world->file);
	elf_symbols_free(world->symbols);
	elf_close(world->elf);
	return 0;
}

static void every_function_has_the_same_name_in_the_file(void **state)
{
	struct world *world = *state;
	uint32_t compared = 0;

	assert_true(make(world, PLENTY, NULL) > 0);
	assert_int_equal(
		elf_open_memory(world->file.data, world->file.size, "made", &world->made, NULL), 0);
	assert_true(build_id_equal(elf_build_id(world->made), &id));
	assert_int_equal(elf_machine(world->made), EM_AARCH64);
	assert_int_equal(elf_symbols_read(world->made, &world->again, NULL), 0);
	for (uint32_t i = 0; i < elf_symbols_count(world->symbols); i++) {
		struct elf_symbol symbol = elf_symbols_at(world->symbols, i);
		uint32_t found;

		if (!symbol.name[0] || symbol.size == 0 ||
		    elf_symbols_find(world->symbols, symbol.start) != i)
			continue;
		found = elf_symbols_find(world->again, symbol.start);
		assert_int_not_equal(found, ELF_SYMBOL_NONE);
		assert_string_equal(elf_symbols_at(world->again, found).name, symbol.name);
		compared++;
	}
	assert_true(compared > 100);
}

static void only_names_and_addresses_are_in_it(void **state)
{
	struct world *world = *state;

	assert_true(make(world, PLENTY, NULL) > 0);
	assert_int_equal(
		elf_open_memory(world->file.data, world->file.size, "made", &world->made, NULL), 0);
	assert_int_equal(elf_segment_count(world->made), 0);
	for (size_t i = 1; i < elf_section_count(world->made); i++) {
		const struct elf_section *section = elf_section_at(world->made, i);

		assert_true(section->type == SHT_NOTE || section->type == SHT_NOBITS ||
			    section->type == SHT_SYMTAB || section->type == SHT_STRTAB);
	}
}

static void a_file_that_would_be_too_large_is_refused(void **state)
{
	struct error err = {0};

	assert_int_equal(make(*state, 1000, &err), -EFBIG);
	assert_string_not_equal(err.remedy, "");
}

static void a_module_without_names_has_no_file(void **state)
{
	struct world *world = *state;
	struct symbol_file_source source = {.build_id = &id, .machine = EM_AARCH64};
	struct error err = {0};

	assert_int_equal(symbol_file_make(&source, PLENTY, &world->file, &err), -ENOENT);
	assert_int_equal(world->file.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_function_has_the_same_name_in_the_file,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_names_and_addresses_are_in_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_would_be_too_large_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_module_without_names_has_no_file, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
