/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/vec.h"
#include "elf_builder.h"
#include "proc/maps.h"
#include "proc/module_file.h"

#define LOAD_BASE 0x7f0000000000ull

static const Elf64_Phdr several_loads[] = {
	{.p_type = PT_LOAD,
	 .p_flags = PF_R,
	 .p_filesz = 0x5c8,
	 .p_memsz = 0x5c8,
	 .p_align = 0x1000},
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_X,
	 .p_offset = 0x1000,
	 .p_vaddr = 0x1000,
	 .p_filesz = 0x2000,
	 .p_memsz = 0x2000,
	 .p_align = 0x1000},
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_W,
	 .p_offset = 0x3df0,
	 .p_vaddr = 0x4df0,
	 .p_filesz = 0x300,
	 .p_memsz = 0x900,
	 .p_align = 0x1000},
};

/* Segments share file pages and lie 64 KiB apart in memory. */
static const Elf64_Phdr wide_pages[] = {
	{.p_type = PT_LOAD,
	 .p_flags = PF_R,
	 .p_filesz = 0x5c8,
	 .p_memsz = 0x5c8,
	 .p_align = 0x10000},
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_X,
	 .p_offset = 0x5d0,
	 .p_vaddr = 0x105d0,
	 .p_filesz = 0x900,
	 .p_memsz = 0x900,
	 .p_align = 0x10000},
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_W,
	 .p_offset = 0xed0,
	 .p_vaddr = 0x20ed0,
	 .p_filesz = 0x90,
	 .p_memsz = 0x90,
	 .p_align = 0x10000},
};

static const Elf64_Phdr prelinked[] = {
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_X,
	 .p_vaddr = 0x3000000000,
	 .p_filesz = 0x2000,
	 .p_memsz = 0x2000,
	 .p_align = 0x1000},
};

static const Elf64_Phdr fixed[] = {
	{.p_type = PT_LOAD,
	 .p_flags = PF_R | PF_X,
	 .p_vaddr = 0x400000,
	 .p_filesz = 0x2000,
	 .p_memsz = 0x2000,
	 .p_align = 0x10000},
};

static void write_file(char *path, const void *data, size_t size)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(close(fd), 0);
}

static void write_elf(char *path, uint16_t type, const Elf64_Phdr *segments, size_t count)
{
	static struct elf_builder builder;

	builder_init(&builder, type);
	for (size_t i = 0; i < count; i++)
		builder_segment(&builder, segments[i]);
	builder_finish(&builder);
	write_file(path, builder.data, builder.size);
}

static struct map_region region_of(const char *path, uint64_t start, uint64_t file_offset,
				   uint32_t protection)
{
	struct stat status = {0};

	(void)stat(path, &status);
	return (struct map_region){
		.start = start,
		.end = start + 0x1000,
		.file_offset = file_offset,
		.device = status.st_dev,
		.inode = status.st_ino,
		.path = path,
		.kind = REGION_FILE,
		.protection = protection,
	};
}

static void the_bias_comes_from_the_program_headers(void **state)
{
	static const struct {
		const Elf64_Phdr *segments;
		size_t count;
		uint16_t type;
		uint64_t start;
		uint64_t file_offset;
		uint32_t protection;
		uint64_t bias;
	} cases[] = {
		{several_loads, 3, ET_DYN, LOAD_BASE + 0x1000, 0x1000, REGION_EXEC, LOAD_BASE},
		{several_loads, 3, ET_DYN, LOAD_BASE + 0x2000, 0x2000, REGION_EXEC, LOAD_BASE},
		{several_loads, 3, ET_DYN, LOAD_BASE + 0x4000, 0x3000, REGION_WRITE, LOAD_BASE},
		{wide_pages, 3, ET_DYN, LOAD_BASE + 0x10000, 0, REGION_EXEC, LOAD_BASE},
		{prelinked, 1, ET_DYN, LOAD_BASE, 0, REGION_EXEC, LOAD_BASE - 0x3000000000},
		{fixed, 1, ET_EXEC, 0x400000, 0, REGION_EXEC, 0},
		{fixed, 1, ET_EXEC, 0x401000, 0x1000, REGION_EXEC, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[] = "/tmp/wick-module-XXXXXX";
		struct module_files *files = module_files_new();
		struct module_place place;

		write_elf(path, cases[i].type, cases[i].segments, cases[i].count);
		struct map_region region =
			region_of(path, cases[i].start, cases[i].file_offset, cases[i].protection);
		assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
		assert_int_equal(place.unread, 0);
		assert_int_equal(place.module.kind, MODULE_FILE);
		assert_int_equal(place.bias, cases[i].bias);
		module_files_free(files);
		(void)unlink(path);
	}
}

static void a_file_is_read_once_and_again_when_it_changes(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_files *files = module_files_new();
	struct module_place place;

	write_elf(path, ET_DYN, several_loads, 3);
	struct map_region region = region_of(path, LOAD_BASE + 0x1000, 0x1000, REGION_EXEC);
	for (int i = 0; i < 5; i++)
		assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(module_files_read_count(files), 1);
	assert_int_equal(place.module.inode, region.inode);
	assert_true(place.module.size_bytes > 0 && place.module.mtime_ns > 0);
	assert_int_equal(truncate(path, (off_t)place.module.size_bytes + 1), 0);
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(module_files_read_count(files), 2);
	module_files_free(files);
	(void)unlink(path);
}

static void a_file_that_is_no_elf_counts_from_its_start(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_files *files = module_files_new();
	struct module_place place;

	write_file(path, "just text", 9);
	struct map_region region = region_of(path, 0x50003000, 0x3000, REGION_EXEC);
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.module.kind, MODULE_OTHER_FILE);
	assert_int_equal(place.bias, 0x50000000);
	module_files_free(files);
	(void)unlink(path);
}

static void a_file_that_took_the_name_is_not_believed(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_files *files = module_files_new();
	struct module_place place;

	write_elf(path, ET_DYN, prelinked, 1);
	struct map_region region = region_of(path, LOAD_BASE, 0, REGION_EXEC);
	region.inode++;
	region.kind = REGION_DELETED;
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_true(place.unread < 0);
	assert_int_equal(place.module.inode, region.inode);
	assert_int_equal(place.module.build_id.size, 0);
	assert_int_equal(place.bias, LOAD_BASE);
	module_files_free(files);
	(void)unlink(path);
}

static void a_file_that_was_written_after_it_was_mapped_is_not_believed(void **state)
{
	struct module_files *files = module_files_new();
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_place place;
	struct map_region region;
	struct elf_file *elf;

	write_elf(path, ET_DYN, several_loads, 3);
	region = region_of(path, LOAD_BASE + 0x1000, 0x1000, REGION_EXEC);
	region.mapped_ns = 1;
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.unread, -ESTALE);
	assert_true(place.rewritten);
	assert_int_equal(place.module.size_bytes, 0);
	assert_true(place.module.mtime_ns > 0);
	assert_int_equal(module_files_open(files, -1, &region, &elf, NULL), -ESTALE);

	region.mapped_ns = clock_monotonic_ns();
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.unread, 0);
	assert_false(place.rewritten);
	unlink(path);
	module_files_free(files);
	(void)state;
}

static void a_file_that_is_written_while_it_is_mapped_may_be_no_program(void **state)
{
	struct module_files *files = module_files_new();
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_place place;
	struct map_region region;

	write_file(path, "JiTD", 4);
	region = region_of(path, LOAD_BASE, 0, REGION_EXEC);
	region.mapped_ns = 1;
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.unread, 0);
	assert_int_equal(place.module.kind, MODULE_OTHER_FILE);
	unlink(path);
	module_files_free(files);
	(void)state;
}

static void a_name_that_ends_like_a_deleted_one_is_found(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	char odd[sizeof(path) + 16];
	struct module_files *files = module_files_new();
	struct module_place place;

	write_elf(path, ET_DYN, prelinked, 1);
	struct map_region region = region_of(path, LOAD_BASE, 0, REGION_EXEC);
	(void)snprintf(odd, sizeof(odd), "%s (deleted)", path);
	assert_int_equal(rename(path, odd), 0);
	region.kind = REGION_DELETED;
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.unread, 0);
	assert_int_equal(place.bias, LOAD_BASE - 0x3000000000);
	module_files_free(files);
	(void)unlink(odd);
}

static void a_fifo_is_not_opened(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_files *files = module_files_new();
	struct module_place place;

	write_file(path, "", 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	struct map_region region = region_of(path, 0x5000, 0, REGION_EXEC);
	assert_int_equal(module_files_identify(files, -1, &region, &place), 0);
	assert_int_equal(place.module.kind, MODULE_OTHER_FILE);
	module_files_free(files);
	(void)unlink(path);
}

static void the_vdso_has_a_build_id_and_its_start_as_bias(void **state)
{
	struct module_files *files = module_files_new();
	struct maps maps = {0};
	struct module_place place;
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	if (!vdso) {
		print_message("no vdso here\n");
		skip();
	}
	assert_int_equal(maps_read(&maps, 0, 0, NULL), 0);
	assert_int_equal(module_files_identify(files, 0, maps_find(&maps, vdso), &place), 0);
	assert_int_equal(place.module.kind, MODULE_VDSO);
	assert_int_equal(place.bias, vdso);
	assert_true(place.module.build_id.size > 0);
	assert_string_equal(place.module.path, "[vdso]");
	maps_fini(&maps);
	module_files_free(files);
}

static void memory_without_a_file_keeps_raw_addresses(void **state)
{
	struct module_files *files = module_files_new();
	struct map_region region = {.start = 0x5000,
				    .end = 0x6000,
				    .path = "",
				    .kind = REGION_ANONYMOUS,
				    .protection = REGION_EXEC};
	struct module_place place;

	assert_int_equal(module_files_identify(files, 0, &region, &place), 0);
	assert_int_equal(place.module.kind, MODULE_ANONYMOUS);
	assert_int_equal(place.bias, 0);
	assert_string_equal(place.module.path, "[anonymous]");
	module_files_free(files);
}

struct loaded {
	struct maps maps;
	struct module_files *files;
	size_t checked;
};

/* The dynamic loader knows the true bias of each object. */
static int compare_with_loader(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *loaded = data;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		struct module_place place;

		if (segment->p_type != PT_LOAD || segment->p_filesz == 0)
			continue;
		const struct map_region *region =
			maps_find(&loaded->maps, info->dlpi_addr + segment->p_vaddr);
		assert_non_null(region);
		assert_int_equal(module_files_identify(loaded->files, 0, region, &place), 0);
		assert_int_equal(place.unread, 0);
		assert_int_equal(place.bias, info->dlpi_addr);
		loaded->checked++;
	}
	return 0;
}

static void every_segment_of_this_process_agrees_with_the_loader(void **state)
{
	struct loaded loaded = {.files = module_files_new()};

	assert_int_equal(maps_read(&loaded.maps, 0, 0, NULL), 0);
	assert_int_equal(dl_iterate_phdr(compare_with_loader, &loaded), 0);
	assert_true(loaded.checked >= 4);
	maps_fini(&loaded.maps);
	module_files_free(loaded.files);
}

static void a_deleted_mapping_is_read_through_the_mapping_or_said_to_be_unread(void **state)
{
	char path[] = "/tmp/wick-module-XXXXXX";
	struct module_files *files = module_files_new();
	struct maps maps = {0};
	struct module_place place;

	write_elf(path, ET_DYN, prelinked, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	void *place_in_memory = mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(place_in_memory != MAP_FAILED);
	uint64_t start = (uintptr_t)place_in_memory;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(maps_read(&maps, 0, 0, NULL), 0);
	const struct map_region *region = maps_find(&maps, start);
	assert_int_equal(region->kind, REGION_DELETED);
	assert_int_equal(module_files_identify(files, 0, region, &place), 0);
	/* Following /proc/PID/map_files takes a capability. */
	assert_int_equal(place.bias, place.unread ? start : start - 0x3000000000);
	maps_fini(&maps);
	module_files_free(files);
	(void)munmap(place_in_memory, 0x1000);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bias_comes_from_the_program_headers),
		cmocka_unit_test(a_file_is_read_once_and_again_when_it_changes),
		cmocka_unit_test(a_file_that_is_no_elf_counts_from_its_start),
		cmocka_unit_test(a_file_that_took_the_name_is_not_believed),
		cmocka_unit_test(a_file_that_was_written_after_it_was_mapped_is_not_believed),
		cmocka_unit_test(a_file_that_is_written_while_it_is_mapped_may_be_no_program),
		cmocka_unit_test(a_name_that_ends_like_a_deleted_one_is_found),
		cmocka_unit_test(a_fifo_is_not_opened),
		cmocka_unit_test(the_vdso_has_a_build_id_and_its_start_as_bias),
		cmocka_unit_test(memory_without_a_file_keeps_raw_addresses),
		cmocka_unit_test(every_segment_of_this_process_agrees_with_the_loader),
		cmocka_unit_test(
			a_deleted_mapping_is_read_through_the_mapping_or_said_to_be_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
