/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/elf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"

#include "elf_builder.h"

static struct elf_file *open_image(struct elf_builder *b)
{
	struct elf_file *elf = NULL;
	struct error err = {0};

	builder_finish(b);
	assert_int_equal(elf_open_memory(b->data, b->size, "image", &elf, &err), 0);
	return elf;
}

static Elf64_Phdr load(uint32_t flags, uint64_t offset, uint64_t vaddr, uint64_t size,
		       uint64_t align)
{
	return (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = flags,
			    .p_offset = offset,
			    .p_vaddr = vaddr,
			    .p_filesz = size,
			    .p_memsz = size,
			    .p_align = align};
}

static void an_image_tells_its_type_machine_and_sections(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;
	void *data = NULL;
	size_t size = 0;

	builder_init(&b, ET_DYN);
	b.header.e_entry = 0x1234;
	builder_section(&b, ".note", SHT_PROGBITS, "hello", 5);
	elf = open_image(&b);
	assert_int_equal(elf_type(elf), ET_DYN);
	assert_int_equal(elf_machine(elf), EM_AARCH64);
	assert_int_equal(elf_entry(elf), 0x1234);
	assert_int_equal(elf_section_count(elf), 3);
	assert_string_equal(elf_section_at(elf, 1)->name, ".note");
	assert_null(elf_section_at(elf, 3));
	assert_null(elf_section_find(elf, ".absent"));
	assert_int_equal(elf_section_read(elf, elf_section_find(elf, ".note"), &data, &size, NULL),
			 0);
	assert_int_equal(size, 5);
	assert_memory_equal(data, "hello", 5);
	free(data);
	elf_close(elf);
}

static void a_32_bit_file_is_refused_by_name(void **state)
{
	struct elf_builder b;
	struct elf_file *elf = NULL;
	struct error err = {0};

	builder_init(&b, ET_DYN);
	b.header.e_ident[EI_CLASS] = ELFCLASS32;
	builder_finish(&b);
	assert_int_equal(elf_open_memory(b.data, b.size, "old", &elf, &err), -ENOTSUP);
	assert_string_equal(err.text, "old: 32-bit ELF files are not supported");
	assert_null(elf);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct elf_file *elf = NULL;
	struct error err = {0};

	assert_int_equal(elf_open_memory("#!/bin/sh and more", 18, "script", &elf, &err), -ENOEXEC);
	assert_string_equal(err.text, "script: not an ELF file");
	assert_int_equal(elf_open_memory("", 0, "empty", &elf, &err), -ENOEXEC);
}

static void devices_and_directories_are_refused(void **state)
{
	struct elf_file *elf = NULL;
	struct error err = {0};

	assert_int_equal(elf_open("/dev/null", &elf, &err), -EINVAL);
	assert_int_equal(elf_open("/", &elf, &err), -EINVAL);
	assert_int_equal(elf_open("/nonexistent", &elf, &err), -ENOENT);
}

static void every_prefix_of_an_image_is_refused_or_read_without_harm(void **state)
{
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	builder_segment(&b, load(PF_R | PF_X, 0, 0, 0x100, 0x1000));
	builder_section(&b, ".a", SHT_PROGBITS, "x", 1);
	builder_finish(&b);
	for (size_t n = 0; n < b.size; n++) {
		struct elf_file *elf = NULL;
		/* A copy of its own size lets the sanitizer see each byte too far. */
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, b.data, n);
		if (elf_open_memory(copy, n, "cut", &elf, NULL) == 0) {
			assert_int_equal(elf_section_count(elf), 0);
			assert_int_equal(elf_build_id(elf)->size, 0);
		}
		elf_close(elf);
		free(copy);
	}
}

static void absurd_counts_and_offsets_are_survived(void **state)
{
	struct elf_builder b;
	struct elf_file *elf = NULL;

	builder_init(&b, ET_DYN);
	builder_finish(&b);
	b.header.e_phnum = 0xffff;
	b.header.e_phoff = UINT64_MAX - 3;
	memcpy(b.data, &b.header, sizeof(b.header));
	assert_int_equal(elf_open_memory(b.data, b.size, "x", &elf, NULL), -ENOEXEC);

	b.header.e_phnum = 0;
	b.header.e_shoff = UINT64_MAX - 3;
	memcpy(b.data, &b.header, sizeof(b.header));
	assert_int_equal(elf_open_memory(b.data, b.size, "x", &elf, NULL), 0);
	assert_int_equal(elf_section_count(elf), 0);
	elf_close(elf);
}

static void a_section_past_the_end_is_an_error_when_it_is_read(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;
	struct error err = {0};
	void *data = NULL;
	size_t size = 0;

	builder_init(&b, ET_DYN);
	builder_header(
		&b, ".far",
		(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = UINT64_MAX - 8, .sh_size = 16});
	builder_header(&b, ".huge", (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_size = 1ull << 40});
	builder_text(&b, ".bss", 0, 8);
	elf = open_image(&b);
	assert_int_equal(elf_section_read(elf, elf_section_at(elf, 1), &data, &size, &err),
			 -ERANGE);
	assert_int_equal(elf_section_read(elf, elf_section_at(elf, 2), &data, &size, &err), -EFBIG);
	assert_int_equal(elf_section_read(elf, elf_section_at(elf, 3), &data, &size, &err),
			 -ENODATA);
	assert_null(data);
	elf_close(elf);
}

static void segments_that_overflow_are_dropped(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;
	uint64_t value;

	builder_init(&b, ET_DYN);
	builder_segment(&b, load(PF_X, UINT64_MAX - 1, 0, 16, 1));
	builder_segment(&b, load(PF_X, 0, UINT64_MAX - 1, 16, 1));
	elf = open_image(&b);
	assert_int_equal(elf_segment_count(elf), 0);
	assert_int_equal(elf_offset_to_vaddr(elf, 8, &value), -ENOENT);
	assert_int_equal(elf_load_bias(elf, 0x1000, 0, &value), -ENOENT);
	elf_close(elf);
}

static void offsets_and_addresses_map_both_ways_by_their_segment(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;
	uint64_t value = 0;

	builder_init(&b, ET_DYN);
	builder_segment(&b, load(PF_R, 0, 0x400000, 0x800, 0x1000));
	builder_segment(&b, load(PF_R | PF_X, 0x1000, 0x403000, 0x500, 0x1000));
	elf = open_image(&b);
	assert_int_equal(elf_offset_to_vaddr(elf, 0x1010, &value), 0);
	assert_int_equal(value, 0x403010);
	assert_int_equal(elf_offset_to_vaddr(elf, 0x7ff, &value), 0);
	assert_int_equal(value, 0x4007ff);
	assert_int_equal(elf_offset_to_vaddr(elf, 0x3000, &value), -ENOENT);
	assert_int_equal(elf_vaddr_to_offset(elf, 0x403010, &value), 0);
	assert_int_equal(value, 0x1010);
	assert_int_equal(elf_vaddr_to_offset(elf, 0x402000, &value), -ENOENT);
	elf_close(elf);
}

static void the_executable_segment_wins_where_two_hold_an_offset(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;
	uint64_t value = 0;

	builder_init(&b, ET_DYN);
	builder_segment(&b, load(PF_R, 0, 0, 0x2000, 0x1000));
	builder_segment(&b, load(PF_R | PF_X, 0x1000, 0x11000, 0x500, 0x1000));
	elf = open_image(&b);
	assert_int_equal(elf_offset_to_vaddr(elf, 0x1010, &value), 0);
	assert_int_equal(value, 0x11010);
	elf_close(elf);
}

struct bias_case {
	const char *what;
	uint16_t type;
	Elf64_Phdr segments[2];
	uint64_t map_start;
	uint64_t map_offset;
	uint64_t bias;
};

static const struct bias_case bias_cases[] = {
	{"one segment",
	 ET_DYN,
	 {{PT_LOAD, PF_X, 0, 0, 0, 0x900, 0x900, 0x1000}},
	 0x7f0000000000,
	 0,
	 0x7f0000000000},
	{"p_vaddr differs from p_offset",
	 ET_DYN,
	 {{PT_LOAD, PF_R, 0, 0, 0, 0x5c8, 0x5c8, 0x1000},
	  {PT_LOAD, PF_X, 0x5d0, 0x15d0, 0, 0x900, 0x900, 0x1000}},
	 0x7f0000001000,
	 0,
	 0x7f0000000000},
	{"64 KiB alignment on 4 KiB pages",
	 ET_DYN,
	 {{PT_LOAD, PF_R, 0, 0, 0, 0x1e800, 0x1e800, 0x10000},
	  {PT_LOAD, PF_X, 0x1f000, 0x2f000, 0, 0x5000, 0x5000, 0x10000}},
	 0x7f000002f000,
	 0x1f000,
	 0x7f0000000000},
	{"64 KiB alignment on 64 KiB pages",
	 ET_DYN,
	 {{PT_LOAD, PF_R, 0, 0, 0, 0x1e800, 0x1e800, 0x10000},
	  {PT_LOAD, PF_X, 0x1f000, 0x2f000, 0, 0x5000, 0x5000, 0x10000}},
	 0x7f0000020000,
	 0x10000,
	 0x7f0000000000},
	{"a first p_vaddr that is not zero",
	 ET_DYN,
	 {{PT_LOAD, PF_X, 0x1000, 0x41000, 0, 0x900, 0x900, 0x1000}},
	 0x7f0000041000,
	 0x1000,
	 0x7f0000000000},
	{"a mapping that was split",
	 ET_DYN,
	 {{PT_LOAD, PF_X, 0x1000, 0x2000, 0, 0x9000, 0x9000, 0x1000}},
	 0x7f0000006000,
	 0x5000,
	 0x7f0000000000},
	{"ET_EXEC",
	 ET_EXEC,
	 {{PT_LOAD, PF_X, 0, 0x400000, 0, 0x900, 0x900, 0x10000}},
	 0x400000,
	 0,
	 0},
	{"ET_EXEC, a part of its code mapped again",
	 ET_EXEC,
	 {{PT_LOAD, PF_R, 0, 0x400000, 0, 0x900, 0x900, 0x1000},
	  {PT_LOAD, PF_X, 0x1000, 0x401000, 0, 0x9000, 0x9000, 0x1000}},
	 0x7f0000006000,
	 0x3000,
	 0x7f0000006000 - 0x403000},
	{"ET_EXEC, a page that two segments share",
	 ET_EXEC,
	 {{PT_LOAD, PF_R, 0, 0x400000, 0, 0x5c8, 0x5c8, 0x10000},
	  {PT_LOAD, PF_X, 0x5d0, 0x4105d0, 0, 0x900, 0x900, 0x10000}},
	 0x400000,
	 0,
	 0},
	{".bss with a wild offset",
	 ET_DYN,
	 {{PT_LOAD, PF_X, 0, 0x9000, 0, 0, 0x900, 0x1000},
	  {PT_LOAD, PF_X, 0, 0x1000, 0, 0x900, 0x900, 0x1000}},
	 0x7f0000001000,
	 0,
	 0x7f0000000000},
};

static void the_load_bias_is_right_for_every_layout(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(bias_cases); i++) {
		const struct bias_case *c = &bias_cases[i];
		struct elf_builder b;
		struct elf_file *elf;
		uint64_t bias = 1;

		builder_init(&b, c->type);
		builder_segment(&b, c->segments[0]);
		builder_segment(&b, c->segments[1]);
		elf = open_image(&b);
		if (elf_load_bias(elf, c->map_start, c->map_offset, &bias) < 0 || bias != c->bias)
			fail_msg("%s: bias 0x%llx", c->what, (unsigned long long)bias);
		elf_close(elf);
	}
}

struct note {
	Elf64_Nhdr header;
	char name[4];
	uint8_t data[8];
};

static const struct note build_id_note = {
	{4, 8, NT_GNU_BUILD_ID}, "GNU", {0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4}};

static void a_build_id_is_found_behind_other_notes_of_a_segment(void **state)
{
	const struct note notes[] = {{{4, 8, 1}, "GNU", {0}}, build_id_note};
	char text[2 * BUILD_ID_MAX + 1];
	struct elf_builder b;
	struct elf_file *elf;
	uint64_t at;

	builder_init(&b, ET_DYN);
	at = builder_bytes(&b, notes, sizeof(notes));
	builder_segment(&b, (Elf64_Phdr){.p_type = PT_NOTE,
					 .p_offset = at,
					 .p_filesz = sizeof(notes),
					 .p_align = 4});
	elf = open_image(&b);
	build_id_format(elf_build_id(elf), text);
	assert_string_equal(text, "deadbeef01020304");
	elf_close(elf);
}

static void a_build_id_is_found_in_a_section_without_segments(void **state)
{
	struct elf_builder b;
	struct elf_file *elf;

	builder_init(&b, ET_DYN);
	builder_section(&b, ".note.gnu.build-id", SHT_NOTE, &build_id_note, sizeof(build_id_note));
	elf = open_image(&b);
	assert_int_equal(elf_build_id(elf)->size, 8);
	assert_true(build_id_equal(elf_build_id(elf), elf_build_id(elf)));
	assert_false(build_id_equal(elf_build_id(elf), &(struct build_id){.size = 8}));
	elf_close(elf);
}

static void notes_with_absurd_sizes_give_no_build_id(void **state)
{
	static const Elf64_Nhdr headers[] = {
		{UINT32_MAX, 8, NT_GNU_BUILD_ID},
		{4, UINT32_MAX, NT_GNU_BUILD_ID},
		{UINT32_MAX, UINT32_MAX, 0},
		{4, 0, NT_GNU_BUILD_ID},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		struct note note = build_id_note;
		struct elf_builder b;
		struct elf_file *elf;

		note.header = headers[i];
		builder_init(&b, ET_DYN);
		builder_section(&b, ".note", SHT_NOTE, &note, sizeof(note));
		elf = open_image(&b);
		assert_int_equal(elf_build_id(elf)->size, 0);
		elf_close(elf);
	}
}

static void a_file_that_shrinks_after_opening_is_an_error(void **state)
{
	struct elf_builder b;
	struct elf_file *elf = NULL;
	void *data = NULL;
	size_t size = 0;
	int fd = memfd_create("shrinking", MFD_CLOEXEC);

	builder_init(&b, ET_DYN);
	builder_section(&b, ".a", SHT_PROGBITS, "hello", 5);
	builder_finish(&b);
	assert_int_equal(write(fd, b.data, b.size), (ssize_t)b.size);
	assert_int_equal(elf_open_fd(fd, "shrinking", &elf, NULL), 0);
	assert_int_equal(ftruncate(fd, 64), 0);
	assert_true(elf_section_read(elf, elf_section_at(elf, 1), &data, &size, NULL) < 0);
	elf_close(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_tells_its_type_machine_and_sections),
		cmocka_unit_test(a_32_bit_file_is_refused_by_name),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(devices_and_directories_are_refused),
		cmocka_unit_test(every_prefix_of_an_image_is_refused_or_read_without_harm),
		cmocka_unit_test(absurd_counts_and_offsets_are_survived),
		cmocka_unit_test(a_section_past_the_end_is_an_error_when_it_is_read),
		cmocka_unit_test(segments_that_overflow_are_dropped),
		cmocka_unit_test(offsets_and_addresses_map_both_ways_by_their_segment),
		cmocka_unit_test(the_executable_segment_wins_where_two_hold_an_offset),
		cmocka_unit_test(the_load_bias_is_right_for_every_layout),
		cmocka_unit_test(a_build_id_is_found_behind_other_notes_of_a_segment),
		cmocka_unit_test(a_build_id_is_found_in_a_section_without_segments),
		cmocka_unit_test(notes_with_absurd_sizes_give_no_build_id),
		cmocka_unit_test(a_file_that_shrinks_after_opening_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
