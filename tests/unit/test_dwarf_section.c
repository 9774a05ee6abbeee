/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/section.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "elf/elf.h"
#include "elf_builder.h"

#define TEXT_BYTES 20000

static struct elf_builder b;
static struct elf_file *elf;
static struct section section;
static char text[TEXT_BYTES];
static uint8_t packed[2 * TEXT_BYTES];

static int begin(void **state)
{
	builder_init(&b, ET_DYN);
	elf = NULL;
	for (size_t i = 0; i < TEXT_BYTES; i++)
		text[i] = i % 1000 == 999 ? '\0' : (char)('a' + i / 7 % 26);
	return 0;
}

static int finish(void **state)
{
	section_fini(&section);
	elf_close(elf);
	return 0;
}

static void open_built(void)
{
	builder_finish(&b);
	assert_int_equal(elf_open_memory(b.data, b.size, "built", &elf, NULL), 0);
	section_init(&section, elf, "debug_str");
}

/* Writes a header of a compressed section before n packed bytes. */
static void add_compressed(uint32_t kind, uint64_t size, size_t n)
{
	Elf64_Chdr header = {.ch_type = kind, .ch_size = size, .ch_addralign = 1};
	uint16_t at;

	memmove(packed + sizeof(header), packed, n);
	memcpy(packed, &header, sizeof(header));
	at = builder_section(&b, ".debug_str", SHT_PROGBITS, packed, n + sizeof(header));
	b.sections[at].sh_flags = SHF_COMPRESSED;
}

static size_t pack_zlib(void)
{
	uLongf n = sizeof(packed) - sizeof(Elf64_Chdr);

	assert_int_equal(compress(packed, &n, (const Bytef *)text, TEXT_BYTES), Z_OK);
	return n;
}

static void assert_whole(void)
{
	const uint8_t *data = section_at(&section, 0, TEXT_BYTES);

	assert_int_equal(section_size(&section), TEXT_BYTES);
	assert_non_null(data);
	assert_memory_equal(data, text, TEXT_BYTES);
}

static void a_missing_section_is_empty(void **state)
{
	open_built();
	assert_false(section_exists(&section));
	assert_null(section_at(&section, 0, 1));
	assert_null(section_text(&section, 0));
}

static void a_plain_section_is_read_where_it_is_asked_for(void **state)
{
	builder_section(&b, ".debug_str", SHT_PROGBITS, text, TEXT_BYTES);
	open_built();
	assert_memory_equal(section_at(&section, 10000, 10), text + 10000, 10);
	assert_int_equal(section.resident, 4096);
	assert_whole();
	assert_null(section_at(&section, TEXT_BYTES, 1));
	assert_null(section_at(&section, UINT64_MAX, 1));
	assert_null(section_at(&section, 1, UINT64_MAX));
}

static void what_was_dropped_is_read_again(void **state)
{
	builder_section(&b, ".debug_str", SHT_PROGBITS, text, TEXT_BYTES);
	open_built();
	assert_whole();
	section_drop(&section);
	assert_int_equal(section.resident, 0);
	assert_whole();
}

static void text_crosses_blocks_and_needs_an_end(void **state)
{
	text[TEXT_BYTES - 1] = 'z';
	builder_section(&b, ".debug_str", SHT_PROGBITS, text, TEXT_BYTES);
	open_built();
	assert_string_equal(section_text(&section, 4000), text + 4000);
	assert_null(section_text(&section, TEXT_BYTES - 1));
	assert_null(section_text(&section, TEXT_BYTES));
}

static void zlib_is_inflated(void **state)
{
	add_compressed(ELFCOMPRESS_ZLIB, TEXT_BYTES, pack_zlib());
	open_built();
	assert_whole();
}

static void zstd_is_inflated(void **state)
{
	size_t n = ZSTD_compress(packed, sizeof(packed) - sizeof(Elf64_Chdr), text, TEXT_BYTES, 3);

	assert_false(ZSTD_isError(n));
	add_compressed(2, TEXT_BYTES, n);
	open_built();
	assert_whole();
}

static void old_zdebug_sections_are_inflated(void **state)
{
	static const uint8_t head[12] = {
		'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, TEXT_BYTES >> 8, TEXT_BYTES & 0xff};
	size_t n = pack_zlib();

	memmove(packed + sizeof(head), packed, n);
	memcpy(packed, head, sizeof(head));
	builder_section(&b, ".zdebug_str", SHT_PROGBITS, packed, n + sizeof(head));
	open_built();
	assert_whole();
}

static void a_bomb_is_not_inflated(void **state)
{
	add_compressed(ELFCOMPRESS_ZLIB, 1ull << 31, pack_zlib());
	open_built();
	assert_false(section_exists(&section));
}

static void a_stream_that_ends_early_is_no_section(void **state)
{
	add_compressed(ELFCOMPRESS_ZLIB, TEXT_BYTES, pack_zlib() / 2);
	open_built();
	assert_false(section_exists(&section));
	assert_null(section_at(&section, 0, 1));
}

static void an_unknown_packing_is_no_section(void **state)
{
	add_compressed(77, TEXT_BYTES, pack_zlib());
	open_built();
	assert_false(section_exists(&section));
}

static void sections_of_one_name_are_joined(void **state)
{
	builder_section(&b, ".debug_str", SHT_PROGBITS, text, 5000);
	builder_section(&b, ".debug_str", SHT_PROGBITS, text + 5000, TEXT_BYTES - 5000);
	open_built();
	assert_whole();
}

static void a_section_past_the_end_of_the_file_is_no_section(void **state)
{
	uint16_t at = builder_section(&b, ".debug_str", SHT_PROGBITS, text, TEXT_BYTES);

	b.sections[at].sh_size = 1u << 30;
	open_built();
	assert_false(section_exists(&section));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_missing_section_is_empty),
		TEST(a_plain_section_is_read_where_it_is_asked_for),
		TEST(what_was_dropped_is_read_again),
		TEST(text_crosses_blocks_and_needs_an_end),
		TEST(zlib_is_inflated),
		TEST(zstd_is_inflated),
		TEST(old_zdebug_sections_are_inflated),
		TEST(a_bomb_is_not_inflated),
		TEST(a_stream_that_ends_early_is_no_section),
		TEST(an_unknown_packing_is_no_section),
		TEST(sections_of_one_name_are_joined),
		TEST(a_section_past_the_end_of_the_file_is_no_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
