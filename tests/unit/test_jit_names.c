/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit/jit_names.h"

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
#include "symbol/jit/jit_symbols.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"

static const uint64_t hits[] = {0x1000, 0x1010, 0x1020, 0x2000, 0x3000};

static int put_name(void *self, const struct jit_piece *name)
{
	bytes_printf(self, "%" PRIx64 "+%" PRIx64 " %.*s", name->start, name->size,
		     (int)name->text_size, name->text);
	if (name->from_ns > 0)
		bytes_printf(self, " from %" PRIu64, name->from_ns);
	if (name->file)
		bytes_printf(self, " %.*s:%" PRIu32, (int)name->file_size, name->file, name->line);
	bytes_printf(self, "\n");
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

	assert_int_equal(perf_map_parse(text, strlen(text), NULL, 0, names), 0);
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

static void a_line_that_came_later_counts_from_then_on(void **state)
{
	static const char text[] = "1000 8 lost\n1000 8 first\n2000 8 only\n1000 8 second\n";
	const struct perf_map_mark marks[] = {{25, 100}, {40, 200}, {53, 300}};
	struct jit_names *names = jit_names_new(hits, ARRAY_SIZE(hits));
	char *found;

	(void)state;
	assert_int_equal(perf_map_parse(text, strlen(text), marks, 3, names), 0);
	found = kept(names);
	assert_string_equal(found, "1000+1 first from 1\n1000+1 second from 200\n2000+8 only\n");
	free(found);
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

static void put_timed_load(struct bytes *out, uint64_t address, uint64_t index, const char *name,
			   uint64_t time_ns)
{
	bytes_put_u32(out, 0);
	bytes_put_u32(out, (uint32_t)(16 + 40 + strlen(name) + 1));
	bytes_put_u64(out, time_ns);
	bytes_put_u64(out, 0);
	bytes_put_u64(out, address);
	bytes_put_u64(out, address);
	bytes_put_u64(out, 8);
	bytes_put_u64(out, index);
	bytes_put(out, name, strlen(name) + 1);
}

static void put_load(struct bytes *out, uint64_t address, uint64_t index, const char *name)
{
	put_timed_load(out, address, index, name, 0);
}

/* Line 3 of a.js from address on, line 4 of it from address + 0x10 on. */
static void put_lines(struct bytes *out, uint64_t address)
{
	bytes_put_u32(out, 2);
	bytes_put_u32(out, 16 + 16 + 2 * 16 + 5 + 2);
	bytes_put_u64(out, 0);
	bytes_put_u64(out, address);
	bytes_put_u64(out, 2);
	bytes_put_u64(out, address);
	bytes_put_u64(out, 3);
	bytes_put(out, "a.js", 5);
	bytes_put_u64(out, address + 0x10);
	bytes_put_u64(out, 4);
	bytes_put(out, "\xff", 2);
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

/* What is kept of a dump that put fills; the caller frees it. */
static char *kept_of_dump(uint64_t flags, void (*put)(struct bytes *dump))
{
	struct jit_names *names = jit_names_new(hits, ARRAY_SIZE(hits));
	struct bytes dump = {0};
	char *found;

	put_header(&dump, 1);
	memcpy(dump.data + 32, &flags, sizeof(flags));
	put(&dump);
	assert_int_equal(jitdump_parse(dump.data, dump.size, names, NULL), 0);
	found = kept(names);
	bytes_fini(&dump);
	return found;
}

static void put_three(struct bytes *dump)
{
	put_timed_load(dump, 0x1000, 1, "first", 100);
	put_timed_load(dump, 0x2000, 2, "other", 150);
	put_timed_load(dump, 0x1000, 3, "second", 200);
}

static void code_that_took_the_place_of_other_code_is_kept_with_its_time(void **state)
{
	char *timed = kept_of_dump(0, put_three);
	char *ticks = kept_of_dump(1, put_three);

	(void)state;
	assert_string_equal(timed, "1000+1 first from 100\n1000+1 second from 200\n"
				   "2000+8 other\n");
	assert_string_equal(ticks, "1000+8 second\n2000+8 other\n");
	free(timed);
	free(ticks);
}

static void put_many(struct bytes *dump)
{
	for (uint64_t i = 1; i <= 1000; i++)
		put_timed_load(dump, 0x3000, i, "again", i);
}

static void of_very_many_the_last_are_kept(void **state)
{
	char *found = kept_of_dump(0, put_many);

	(void)state;
	assert_null(strstr(found, "from 984\n"));
	assert_non_null(strstr(found, "3000+1 again from 985\n"));
	assert_non_null(strstr(found, "3000+1 again from 1000\n"));
	free(found);
}

static void put_lined(struct bytes *dump)
{
	put_lines(dump, 0x1000);
	bytes_put_u32(dump, 0);
	bytes_put_u32(dump, 16 + 40 + 6);
	bytes_put_u64(dump, 0);
	bytes_put_u64(dump, 0);
	bytes_put_u64(dump, 0x1000);
	bytes_put_u64(dump, 0x1000);
	bytes_put_u64(dump, 0x30);
	bytes_put_u64(dump, 1);
	bytes_put(dump, "lined", 6);
	put_load(dump, 0x2000, 2, "without");
	put_move(dump, 0x3000, 1);
}

static void lines_belong_to_the_code_that_follows_and_move_with_it(void **state)
{
	char *found = kept_of_dump(0, put_lined);

	(void)state;
	assert_string_equal(found, "1000+1 lined a.js:3\n1010+11 lined a.js:4\n2000+8 without\n"
				   "3000+1 lined a.js:3\n");
	free(found);
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

static int add(struct jit_symbols *symbols, uint32_t process, struct jit_symbol symbol)
{
	return jit_symbols_add(symbols, process, &symbol);
}

static void symbols_are_told_apart_by_process(void **state)
{
	struct jit_symbols *symbols = jit_symbols_new();
	struct jit_symbol found;

	(void)state;
	assert_int_equal(
		add(symbols, 2, (struct jit_symbol){.start = 0x1000, .size = 0x10, .name = "two"}),
		0);
	assert_int_equal(
		add(symbols, 1, (struct jit_symbol){.start = 0x1000, .size = 0x20, .name = "one"}),
		0);
	jit_symbols_finish(symbols);
	assert_true(jit_symbols_find(symbols, 1, 0x101f, 0, &found));
	assert_string_equal(found.name, "one");
	assert_true(jit_symbols_find(symbols, 2, 0x1000, 0, &found));
	assert_string_equal(found.name, "two");
	assert_false(jit_symbols_find(symbols, 2, 0x1010, 0, &found));
	assert_false(jit_symbols_find(symbols, 2, 0xfff, 0, &found));
	assert_false(jit_symbols_find(symbols, 3, 0x1000, 0, &found));
	jit_symbols_free(symbols);
}

static void a_symbol_is_the_one_of_the_time(void **state)
{
	static const struct {
		uint64_t time_ns;
		const char *name;
		uint64_t change_ns;
	} cases[] = {{0, "first", 0},
		     {100, "first", 100},
		     {199, "first", 100},
		     {200, "second", 200},
		     {UINT64_MAX, "second", 200}};
	struct jit_symbols *symbols = jit_symbols_new();
	struct jit_symbol found;

	(void)state;
	assert_false(jit_symbols_have_shared(symbols));
	assert_int_equal(add(symbols, 1, (struct jit_symbol){0x1000, 8, "second", "b.js", 7, 200}),
			 0);
	assert_int_equal(add(symbols, 1, (struct jit_symbol){0x1000, 8, "first", NULL, 0, 100}), 0);
	assert_int_equal(add(symbols, 1, (struct jit_symbol){0x2000, 8, "lasting", NULL, 0, 0}), 0);
	jit_symbols_finish(symbols);
	assert_true(jit_symbols_have_shared(symbols));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(jit_symbols_find(symbols, 1, 0x1004, cases[i].time_ns, &found));
		assert_string_equal(found.name, cases[i].name);
		assert_int_equal(jit_symbols_last_change(symbols, 1, cases[i].time_ns),
				 cases[i].change_ns);
	}
	assert_string_equal(found.file, "b.js");
	assert_int_equal(found.line, 7);
	assert_true(jit_symbols_is_shared(symbols, 1, 0x1000));
	assert_false(jit_symbols_is_shared(symbols, 1, 0x2000));
	assert_false(jit_symbols_is_shared(symbols, 2, 0x1000));
	assert_int_equal(jit_symbols_last_change(symbols, 2, 300), 0);
	jit_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_hit_addresses_are_kept),
		cmocka_unit_test(a_later_name_replaces_an_earlier_one),
		cmocka_unit_test(a_line_that_came_later_counts_from_then_on),
		cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
		cmocka_unit_test(an_unfinished_line_does_not_count),
		cmocka_unit_test(a_jitdump_names_code_that_was_made_and_moved),
		cmocka_unit_test(code_that_took_the_place_of_other_code_is_kept_with_its_time),
		cmocka_unit_test(of_very_many_the_last_are_kept),
		cmocka_unit_test(lines_belong_to_the_code_that_follows_and_move_with_it),
		cmocka_unit_test(a_symbol_is_the_one_of_the_time),
		cmocka_unit_test(what_is_no_jitdump_is_refused),
		cmocka_unit_test(symbols_are_told_apart_by_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
