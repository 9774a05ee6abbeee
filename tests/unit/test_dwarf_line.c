/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/dwarf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf_builder.h"
#include "elf/elf.h"

static struct dwarf_builder b;
static struct elf_builder image;
static struct dwarf *dwarf;
static struct dwarf_frames frames;
static size_t header_at; /* where the length of the line table's header is */

/* A table of version 4 with "inc/b.h" as its second file. */
static void lines_begin(void)
{
	static const uint8_t fixed[] = {4 /* shortest instruction */,
					1,
					1 /* statements */,
					(uint8_t)-5,
					14,
					13,
					0,
					1,
					1,
					1,
					1,
					0,
					0,
					0,
					1,
					0,
					0,
					1 /* operands of opcodes */};

	bytes_put_u32(&b.line, 0); /* length: lines_end() */
	bytes_put_u16(&b.line, 4);
	header_at = b.line.size;
	bytes_put_u32(&b.line, 0);
	bytes_put(&b.line, fixed, sizeof(fixed));
	put_text(&b.line, "inc");
	bytes_put_u8(&b.line, 0);
	put_text(&b.line, "a.cc");
	bytes_put(&b.line, "\0\0\0", 3);
	put_text(&b.line, "b.h");
	bytes_put(&b.line, "\1\0\0", 3);
	bytes_put_u8(&b.line, 0);
	uint32_t length = (uint32_t)(b.line.size - header_at - 4);
	memcpy(b.line.data + header_at, &length, sizeof(length));
}

static void set_address(uint64_t address)
{
	bytes_put(&b.line, "\0\x09\x02", 3);
	bytes_put_u64(&b.line, address);
}

static void row(uint64_t advance, int8_t lines)
{
	bytes_put_u8(&b.line, DW_LNS_advance_pc);
	bytes_put_varint(&b.line, advance / 4);
	bytes_put_u8(&b.line, DW_LNS_advance_line);
	bytes_put_u8(&b.line, (uint8_t)(lines & 0x7f));
	bytes_put_u8(&b.line, DW_LNS_copy);
}

static void end_sequence(uint64_t advance)
{
	bytes_put_u8(&b.line, DW_LNS_advance_pc);
	bytes_put_varint(&b.line, advance / 4);
	bytes_put(&b.line, "\0\1\1", 3);
}

static void open_built(void)
{
	uint32_t length = (uint32_t)b.line.size - 4;
	struct elf_file *elf = NULL;

	memcpy(b.line.data, &length, sizeof(length));
	unit_begin(&b, "a.cc", 0x1000, 0x10000);
	die_function(&b, "one", 0x1000, 0x10000);
	die_code(&b, DIE_END);
	unit_end(&b);
	dwarf_builder_image(&b, &image);
	assert_int_equal(elf_open_memory(image.data, image.size, "built", &elf, NULL), 0);
	assert_int_equal(dwarf_open(elf, NULL, &dwarf, NULL), 0);
}

static uint32_t line_at(uint64_t address)
{
	assert_int_equal(dwarf_find(dwarf, address, &frames), 1);
	return frames.items[0].line;
}

static int begin(void **state)
{
	dwarf_builder_init(&b);
	lines_begin();
	return 0;
}

static int finish(void **state)
{
	dwarf_close(dwarf);
	dwarf_builder_fini(&b);
	return 0;
}

static void a_row_holds_up_to_the_next(void **state)
{
	set_address(0x1000);
	row(0, 9);
	row(8, 5);
	end_sequence(8);
	open_built();
	assert_int_equal(line_at(0x1000), 10);
	assert_int_equal(line_at(0x1007), 10);
	assert_int_equal(line_at(0x1008), 15);
	assert_int_equal(line_at(0x100f), 15);
	assert_int_equal(line_at(0x1010), 0);
	assert_null(frames.items[0].file);
}

static void the_last_of_several_rows_at_an_address_counts(void **state)
{
	set_address(0x1000);
	row(0, 9);
	row(0, 2);
	row(4, 1);
	end_sequence(4);
	open_built();
	assert_int_equal(line_at(0x1000), 12);
	assert_int_equal(line_at(0x1004), 13);
}

static void special_opcodes_advance_both(void **state)
{
	set_address(0x1000);
	row(0, 0);
	bytes_put_u8(&b.line, 13 + 14 * 2 + 5 + 3); /* two instructions, three lines */
	end_sequence(4);
	open_built();
	assert_int_equal(line_at(0x1007), 1);
	assert_int_equal(line_at(0x1008), 4);
}

static void sequences_come_in_any_order(void **state)
{
	set_address(0x3000);
	row(0, 29);
	end_sequence(0x10);
	set_address(0x2000);
	row(0, 19);
	end_sequence(0x10);
	open_built();
	assert_int_equal(line_at(0x2000), 20);
	assert_int_equal(line_at(0x2010), 0);
	assert_int_equal(line_at(0x3008), 30);
}

static void sequences_that_went_away_are_left_out(void **state)
{
	set_address(0);
	row(0, 29);
	end_sequence(0x4000);
	set_address(0x2000);
	row(0, 19);
	end_sequence(0x10);
	open_built();
	assert_int_equal(line_at(0x2000), 20);
	assert_int_equal(line_at(0x2010), 0);
}

static void a_sequence_that_goes_backwards_is_left_out(void **state)
{
	set_address(0x2000);
	row(0, 29);
	set_address(0x1800);
	row(0, 1);
	end_sequence(0x1000);
	set_address(0x3000);
	row(0, 9);
	end_sequence(0x10);
	open_built();
	assert_int_equal(line_at(0x2000), 0);
	assert_int_equal(line_at(0x3000), 10);
}

static void files_have_their_directories(void **state)
{
	set_address(0x1000);
	row(0, 9);
	bytes_put_u8(&b.line, DW_LNS_set_file);
	bytes_put_u8(&b.line, 2);
	bytes_put_u8(&b.line, DW_LNS_set_column);
	bytes_put_u8(&b.line, 7);
	row(4, 0);
	bytes_put_u8(&b.line, DW_LNS_set_file);
	bytes_put_u8(&b.line, 99);
	row(4, 0);
	end_sequence(4);
	open_built();
	(void)line_at(0x1000);
	assert_string_equal(frames.items[0].file, "a.cc");
	(void)line_at(0x1004);
	assert_string_equal(frames.items[0].file, "inc/b.h");
	assert_int_equal(frames.items[0].column, 7);
	(void)line_at(0x1008);
	assert_null(frames.items[0].file);
}

static void rows_before_the_damage_count(void **state)
{
	set_address(0x1000);
	row(0, 9);
	end_sequence(0x10);
	bytes_put(&b.line, "\0\xff\xff\xff\x7f", 5); /* an opcode longer than the table */
	open_built();
	assert_int_equal(line_at(0x1000), 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_row_holds_up_to_the_next),
		TEST(the_last_of_several_rows_at_an_address_counts),
		TEST(special_opcodes_advance_both),
		TEST(sequences_come_in_any_order),
		TEST(sequences_that_went_away_are_left_out),
		TEST(a_sequence_that_goes_backwards_is_left_out),
		TEST(files_have_their_directories),
		TEST(rows_before_the_damage_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
