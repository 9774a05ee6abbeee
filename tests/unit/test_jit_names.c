/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit_names.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "symbol/jit_symbols.h"
#include "symbol/jitdump.h"
#include "symbol/perf_map.h"

static const uint64_t hits[] = {0x1000, 0x1010, 0x1020, 0x2000, 0x3000};

static int put_name(void *self, const struct jit_name *name)
{
	bytes_printf(self, "%" PRIx64 "+%" PRIx64 " %.*s\n", name->start, name->size,
		     (int)name->text_size, name->text);
	return 0;
}

/* What is kept of the names, one a line; the caller frees it. */
static char *kept(struct jit_names *names)
{
	struct bytes out = {0};

	assert_int_equal(jit_names_visit(names, put_name, &out), 0);
	bytes_put_u8(&out, '\0');
	jit_names_free(names);
	return (char *)out.data;
}

static void assert_map(const char *text, const char *wanted)
{
	struct jit_names *names = jit_names_new(hits, ARRAY_SIZE(hits));
	char *found;

	assert_int_equal(perf_map_parse(text, strlen(text), names), 0);
	found = kept(names);
	assert_string_equal(found, wanted);
	free(found);
}

static void only_names_of_hit_addresses_are_kept(void **state)
{
	(void)state;
	assert_map("1000 8 a\n2000 10 b c\n5000 10 nobody\n1018 8 beside\n",
		   "1000+8 a\n2000+10 b c\n");
}

static void a_later_name_replaces_an_earlier_one(void **state)
{
	(void)state;
	assert_map("1000 100 old\n1010 8 new\n", "1000+10 old\n1010+8 new\n1011+ef old\n");
	assert_map("1010 8 old\n1000 100 new\n", "1000+100 new\n");
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
	(void)state;
	assert_map("", "");
	assert_map("\n\n 1000 8 a\nx 8 a\n1000 a\n1000 8\n1000 8 \n1000 0 a\n"
		   "11112222333344445 8 a\nfffffffffffffff0 20 wraps\n0x1000 0x8 prefixed\n",
		   "1000+8 prefixed\n");
}

static void an_unfinished_line_does_not_count(void **state)
{
	(void)state;
	assert_map("1000 8 done\n2000 8 unfini", "1000+8 done\n");
}

static void put_header(struct bytes *out, uint32_t version)
{
	bytes_put_u32(out, 0x4a695444);
	bytes_put_u32(out, version);
	bytes_put_u32(out, 40);
	for (int i = 0; i < 7; i++)
		bytes_put_u32(out, 0);
}

static void put_load(struct bytes *out, uint64_t address, uint64_t index, const char *name)
{
	bytes_put_u32(out, 0);
	bytes_put_u32(out, (uint32_t)(16 + 40 + strlen(name) + 1));
	bytes_put_u64(out, 0);
	bytes_put_u64(out, 0);
	bytes_put_u64(out, address);
	bytes_put_u64(out, address);
	bytes_put_u64(out, 8);
	bytes_put_u64(out, index);
	bytes_put(out, name, strlen(name) + 1);
}

static void put_move(struct bytes *out, uint64_t address, uint64_t index)
{
	bytes_put_u32(out, 1);
	bytes_put_u32(out, 16 + 48);
	for (int i = 0; i < 4; i++)
		bytes_put_u64(out, 0);
	bytes_put_u64(out, address);
	bytes_put_u64(out, 8);
	bytes_put_u64(out, index);
}

static void a_jitdump_names_code_that_was_made_and_moved(void **state)
{
	struct jit_names *names = jit_names_new(hits, ARRAY_SIZE(hits));
	struct bytes dump = {0};
	char *found;

	(void)state;
	put_header(&dump, 1);
	put_load(&dump, 0x1000, 1, "first");
	put_load(&dump, 0x9000, 2, "second");
	bytes_put_u32(&dump, 77); /* a record of a later version */
	bytes_put_u32(&dump, 16);
	bytes_put_u64(&dump, 0);
	put_move(&dump, 0x2000, 2);
	put_move(&dump, 0x3000, 99);
	put_load(&dump, 0x3000, 3, "cut off");
	assert_int_equal(jitdump_parse(dump.data, dump.size - 1, names, NULL), 0);
	found = kept(names);
	assert_string_equal(found, "1000+8 first\n2000+8 second\n");
	free(found);
	bytes_fini(&dump);
}

static void what_is_no_jitdump_is_refused(void **state)
{
	struct jit_names *names = jit_names_new(hits, ARRAY_SIZE(hits));
	struct bytes dump = {0};

	(void)state;
	put_header(&dump, 2);
	assert_int_equal(jitdump_parse(dump.data, dump.size, names, NULL), -EBADMSG);
	assert_int_equal(jitdump_parse(dump.data, 12, names, NULL), -EBADMSG);
	assert_int_equal(jitdump_parse("text", 4, names, NULL), -EBADMSG);
	jit_names_free(names);
	bytes_fini(&dump);
}

static void symbols_are_told_apart_by_process(void **state)
{
	struct jit_symbols *symbols = jit_symbols_new();
	struct jit_symbol found;

	(void)state;
	assert_int_equal(jit_symbols_add(symbols, 2, 0x1000, 0x10, "two"), 0);
	assert_int_equal(jit_symbols_add(symbols, 1, 0x1000, 0x20, "one"), 0);
	jit_symbols_finish(symbols);
	assert_true(jit_symbols_find(symbols, 1, 0x101f, &found));
	assert_string_equal(found.name, "one");
	assert_true(jit_symbols_find(symbols, 2, 0x1000, &found));
	assert_string_equal(found.name, "two");
	assert_false(jit_symbols_find(symbols, 2, 0x1010, &found));
	assert_false(jit_symbols_find(symbols, 2, 0xfff, &found));
	assert_false(jit_symbols_find(symbols, 3, 0x1000, &found));
	jit_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_hit_addresses_are_kept),
		cmocka_unit_test(a_later_name_replaces_an_earlier_one),
		cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
		cmocka_unit_test(an_unfinished_line_does_not_count),
		cmocka_unit_test(a_jitdump_names_code_that_was_made_and_moved),
		cmocka_unit_test(what_is_no_jitdump_is_refused),
		cmocka_unit_test(symbols_are_told_apart_by_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
