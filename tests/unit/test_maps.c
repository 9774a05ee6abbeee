/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "proc/maps.h"

static void parse(struct maps *maps, const char *text)
{
	*maps = (struct maps){0};
	assert_int_equal(maps_parse(maps, text, strlen(text), 0), 0);
}

static void an_ordinary_line_gives_all_its_fields(void **state)
{
	struct maps maps;

	parse(&maps, "7f0012345000-7f0012347000 r-xp 0001a000 fd:11 123456789"
		     "                  /usr/lib/libc.so.6\n");
	assert_int_equal(maps.count, 1);
	const struct map_region *region = &maps.items[0];
	assert_int_equal(region->start, 0x7f0012345000);
	assert_int_equal(region->end, 0x7f0012347000);
	assert_int_equal(region->protection, REGION_READ | REGION_EXEC);
	assert_int_equal(region->file_offset, 0x1a000);
	assert_int_equal(region->device, makedev(0xfd, 0x11));
	assert_int_equal(region->inode, 123456789);
	assert_string_equal(region->path, "/usr/lib/libc.so.6");
	assert_int_equal(region->kind, REGION_FILE);
	maps_fini(&maps);
}

static void a_path_with_spaces_is_kept_whole(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5     /opt/my program/lib  two.so\n");
	assert_string_equal(maps.items[0].path, "/opt/my program/lib  two.so");
	maps_fini(&maps);
}

static void an_escaped_newline_is_a_newline_again(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5     /tmp/a\\012b\\012.so\n");
	assert_string_equal(maps.items[0].path, "/tmp/a\nb\n.so");
	maps_fini(&maps);
}

static void other_backslashes_stay(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5     /tmp/a\\040b\\\n");
	assert_string_equal(maps.items[0].path, "/tmp/a\\040b\\");
	maps_fini(&maps);
}

static void a_deleted_file_is_flagged_and_loses_the_mark(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5     /tmp/old lib.so (deleted)\n");
	assert_string_equal(maps.items[0].path, "/tmp/old lib.so");
	assert_int_equal(maps.items[0].kind, REGION_DELETED);
	maps_fini(&maps);
}

static void names_tell_the_kind_of_region(void **state)
{
	static const struct {
		const char *name;
		enum region_kind kind;
	} cases[] = {
		{"/memfd:jit code (deleted)", REGION_MEMFD},
		{"[vdso]", REGION_VDSO},
		{"[vsyscall]", REGION_VSYSCALL},
		{"[vvar]", REGION_SPECIAL},
		{"[heap]", REGION_SPECIAL},
		{"[stack]", REGION_SPECIAL},
		{"[anon:pool of one]", REGION_SPECIAL},
		{"anon_inode:[perf_event]", REGION_SPECIAL},
		{"/dev/zero (deleted)", REGION_SPECIAL},
		{"/SYSV00000001 (deleted)", REGION_SPECIAL},
		{"/memfd:a real file", REGION_FILE},
		{"", REGION_ANONYMOUS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maps maps;
		char line[128];

		(void)snprintf(line, sizeof(line), "1000-2000 rwxp 0 0:0 0      %s\n",
			       cases[i].name);
		parse(&maps, line);
		assert_int_equal(maps.count, 1);
		assert_int_equal(maps.items[0].kind, cases[i].kind);
		maps_fini(&maps);
	}
}

static void a_memfd_keeps_its_name(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 rwxs 0 0:1 9      /memfd:jit (deleted)\n");
	assert_string_equal(maps.items[0].path, "/memfd:jit");
	assert_true(maps.items[0].protection & REGION_SHARED);
	maps_fini(&maps);
}

static void garbage_lines_are_skipped_and_counted(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5 /a\n"
		     "\n"
		     "hello\n"
		     "2000-1000 r-xp 0 8:1 5 /backwards\n"
		     "3000-3000 r-xp 0 8:1 5 /empty\n"
		     "11112222333344445-5 r-xp 0 8:1 5 /too wide\n"
		     "4000-5000 rqxp 0 8:1 5 /protection\n"
		     "4000-5000 r-xp 0 8:1 x /inode\n"
		     "4000-5000 r-xp 0 8:1 99999999999999999999 /inode\n"
		     "4000-5000 r-xp 0 8:1");
	assert_int_equal(maps.count, 1);
	assert_int_equal(maps.bad_lines, 9);
	maps_fini(&maps);
}

static void overlapping_and_unsorted_lines_are_skipped(void **state)
{
	struct maps maps;

	parse(&maps, "5000-7000 r-xp 0 8:1 5 /a\n"
		     "6000-8000 r-xp 0 8:1 5 /b\n"
		     "1000-2000 r-xp 0 8:1 5 /c\n"
		     "7000-8000 r-xp 0 8:1 5 /d\n");
	assert_int_equal(maps.count, 2);
	assert_int_equal(maps.bad_lines, 2);
	assert_string_equal(maps.items[1].path, "/d");
	maps_fini(&maps);
}

static void a_huge_path_and_a_nul_byte_are_refused(void **state)
{
	static const char start[] = "1000-2000 r-xp 0 8:1 5 /";
	static const char nul[] = "\n3000-4000 r-xp 0 8:1 5 /a\0b\n";
	const size_t size = 1 << 20;
	char *text = malloc(size + sizeof(nul));
	struct maps maps = {0};

	assert_non_null(text);
	memset(text, 'a', size);
	memcpy(text, start, sizeof(start) - 1);
	memcpy(text + size, nul, sizeof(nul));
	assert_int_equal(maps_parse(&maps, text, size + sizeof(nul) - 1, 0), 0);
	assert_int_equal(maps.count, 0);
	assert_int_equal(maps.bad_lines, 2);
	maps_fini(&maps);
	free(text);
}

static void every_cut_of_a_text_parses_without_harm(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 8:1 5   /a\\012b (deleted)\n"
				   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
				   "     [vsyscall]\n";

	for (size_t size = 0; size < sizeof(text); size++) {
		char *copy = malloc(size ? size : 1);
		struct maps maps = {0};

		assert_non_null(copy);
		memcpy(copy, text, size);
		assert_int_equal(maps_parse(&maps, copy, size, 0), 0);
		assert_true(maps.count + maps.bad_lines <= 3);
		maps_fini(&maps);
		free(copy);
	}
}

static void only_executable_regions_are_kept_when_asked(void **state)
{
	static const char text[] = "1000-2000 r--p 0 8:1 5 /a\n"
				   "2000-3000 r-xp 1000 8:1 5 /a\n"
				   "3000-4000 rw-p 2000 8:1 5 /a\n";
	struct maps maps = {0};

	assert_int_equal(maps_parse(&maps, text, sizeof(text) - 1, MAPS_EXECUTABLE_ONLY), 0);
	assert_int_equal(maps.count, 1);
	assert_int_equal(maps.items[0].start, 0x2000);
	maps_fini(&maps);
}

static void an_address_is_found_in_its_region_only(void **state)
{
	struct maps maps;

	parse(&maps, "1000-2000 r-xp 0 8:1 5 /a\n3000-4000 r-xp 0 8:1 5 /b\n");
	assert_null(maps_find(&maps, 0xfff));
	assert_ptr_equal(maps_find(&maps, 0x1000), &maps.items[0]);
	assert_ptr_equal(maps_find(&maps, 0x1fff), &maps.items[0]);
	assert_null(maps_find(&maps, 0x2000));
	assert_ptr_equal(maps_find(&maps, 0x3fff), &maps.items[1]);
	assert_null(maps_find(&maps, 0x4000));
	maps_fini(&maps);
}

static void this_process_has_its_code_and_stack(void **state)
{
	struct maps maps = {0};
	int local = 0;

	assert_int_equal(maps_read(&maps, 0, 0, NULL), 0);
	assert_int_equal(maps.bad_lines, 0);
	const struct map_region *code = maps_find(&maps, (uintptr_t)&maps_read);
	assert_non_null(code);
	assert_true(code->protection & REGION_EXEC);
	assert_non_null(strstr(code->path, "test_maps"));
	const struct map_region *stack = maps_find(&maps, (uintptr_t)&local);
	assert_non_null(stack);
	assert_true(stack->protection & REGION_WRITE);
	maps_fini(&maps);
}

static void a_real_memfd_and_a_real_newline_are_recognised(void **state)
{
	char path[] = "/tmp/wick maps\ntest XXXXXX";
	int file = mkstemp(path);
	int memfd = memfd_create("wick test", MFD_CLOEXEC);
	struct maps maps = {0};

	assert_true(file >= 0 && memfd >= 0);
	assert_int_equal(ftruncate(file, 4096), 0);
	assert_int_equal(ftruncate(memfd, 4096), 0);
	void *a = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	void *b = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memfd, 0);
	assert_true(a != MAP_FAILED && b != MAP_FAILED);

	assert_int_equal(maps_read(&maps, getpid(), 0, NULL), 0);
	assert_string_equal(maps_find(&maps, (uintptr_t)a)->path, path);
	assert_int_equal(maps_find(&maps, (uintptr_t)b)->kind, REGION_MEMFD);
	maps_fini(&maps);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(maps_read(&maps, getpid(), 0, NULL), 0);
	assert_string_equal(maps_find(&maps, (uintptr_t)a)->path, path);
	assert_int_equal(maps_find(&maps, (uintptr_t)a)->kind, REGION_DELETED);
	maps_fini(&maps);
	(void)munmap(a, 4096);
	(void)munmap(b, 4096);
	(void)close(file);
	(void)close(memfd);
}

static void a_missing_process_is_named_with_a_remedy(void **state)
{
	struct maps maps = {0};
	struct error err = {0};

	assert_int_equal(maps_read(&maps, 0x7ffffff0, 0, &err), -ESRCH);
	assert_string_equal(err.text, "no such process: 2147483632");
	assert_string_not_equal(err.remedy, "");
	maps_fini(&maps);
}

static void a_fingerprint_changes_with_executable_memory_alone(void **state)
{
	const char text[] = "1000-2000 r-xp 00000000 08:01 5 /a.so\n"
			    "3000-4000 rw-p 00000000 00:00 0 [heap]\n";
	const char grown[] = "1000-2000 r-xp 00000000 08:01 5 /a.so\n"
			     "3000-9000 rw-p 00000000 00:00 0 [heap]\n";
	const char other[] = "1000-2000 r-xp 00000000 08:01 6 /b.so\n"
			     "3000-4000 rw-p 00000000 00:00 0 [heap]\n";
	uint64_t before = maps_code_fingerprint_parse(text, sizeof(text) - 1);

	assert_true(maps_code_fingerprint_parse(grown, sizeof(grown) - 1) == before);
	assert_true(maps_code_fingerprint_parse(other, sizeof(other) - 1) != before);
	assert_true(maps_code_fingerprint(0) != 0);
	assert_true(maps_code_fingerprint(0) == maps_code_fingerprint(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_line_gives_all_its_fields),
		cmocka_unit_test(a_path_with_spaces_is_kept_whole),
		cmocka_unit_test(an_escaped_newline_is_a_newline_again),
		cmocka_unit_test(other_backslashes_stay),
		cmocka_unit_test(a_deleted_file_is_flagged_and_loses_the_mark),
		cmocka_unit_test(names_tell_the_kind_of_region),
		cmocka_unit_test(a_memfd_keeps_its_name),
		cmocka_unit_test(garbage_lines_are_skipped_and_counted),
		cmocka_unit_test(overlapping_and_unsorted_lines_are_skipped),
		cmocka_unit_test(a_huge_path_and_a_nul_byte_are_refused),
		cmocka_unit_test(every_cut_of_a_text_parses_without_harm),
		cmocka_unit_test(only_executable_regions_are_kept_when_asked),
		cmocka_unit_test(an_address_is_found_in_its_region_only),
		cmocka_unit_test(this_process_has_its_code_and_stack),
		cmocka_unit_test(a_real_memfd_and_a_real_newline_are_recognised),
		cmocka_unit_test(a_missing_process_is_named_with_a_remedy),
		cmocka_unit_test(a_fingerprint_changes_with_executable_memory_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
