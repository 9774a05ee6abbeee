/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the reader of debug information with whatever comes. The input is a row of
 * sections, of which an ELF image is made here, so that no bytes are lost on headers:
 *
 *	kind (1 byte: number of the name below, high bit: compressed) | size (2 bytes) | bytes
 *
 * The same image stands for the program, its dwz file, its .dwo and its .dwp.
 */

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "dwarf/dwarf.h"
#include "elf/elf.h"

#include "../unit/elf_builder.h"

#define MAX_INPUT 0xc000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	".debug_info",     ".debug_types",       ".debug_abbrev",       ".debug_str",
	".debug_line",     ".debug_line_str",    ".debug_ranges",       ".debug_rnglists",
	".debug_addr",     ".debug_str_offsets", ".debug_info.dwo",     ".debug_abbrev.dwo",
	".debug_str.dwo",  ".debug_line.dwo",    ".debug_rnglists.dwo", ".debug_str_offsets.dwo",
	".debug_cu_index", ".debug_tu_index",    ".gnu_debugaltlink",   ".zdebug_str",
};

static int open_again(struct elf_builder *b, struct elf_file **ret)
{
	return elf_open_memory(b->data, b->size, "fuzz", ret, NULL);
}

static int open_alt(void *self, const char *name, const struct build_id *id, struct elf_file **ret)
{
	return name && id->size <= BUILD_ID_MAX ? open_again(self, ret) : -ENOENT;
}

static int open_dwo(void *self, const char *comp_dir, const char *name, uint64_t id,
		    struct elf_file **ret)
{
	return strlen(comp_dir) + strlen(name) + id > 0 ? open_again(self, ret) : -ENOENT;
}

static int open_dwp(void *self, struct elf_file **ret)
{
	return open_again(self, ret);
}

static void check(const struct dwarf_frames *frames, int r)
{
	if (r < 0 || (size_t)r != frames->count || frames->count > DWARF_MAX_FRAMES)
		abort();
	for (size_t i = 0; i < frames->count; i++) {
		const struct dwarf_frame *frame = &frames->items[i];

		if (frame->inlined != (i + 1 < frames->count))
			abort();
		if ((frame->name && strlen(frame->name) > (1u << 17)) ||
		    (frame->file && strlen(frame->file) > (1u << 21)))
			abort();
	}
}

static void look_up(struct dwarf *dwarf, uint64_t address)
{
	static struct dwarf_frames frames;
	struct dwarf_details details;

	check(&frames, dwarf_find(dwarf, address, &frames));
	if (frames.count > 0 && dwarf_find_details(dwarf, address, &details) < 0)
		abort();
}

static void read_it(struct elf_builder *b)
{
	struct dwarf_hooks hooks = {b, open_alt, open_dwo, open_dwp};
	struct elf_file *elf = NULL;
	struct dwarf *dwarf = NULL;

	if (open_again(b, &elf) < 0)
		abort();
	if (dwarf_open(elf, &hooks, &dwarf, NULL) < 0) {
		elf_close(elf);
		return;
	}
	/* Where the seeds' code is, and elsewhere. */
	for (uint64_t address = 0x780; address < 0x900; address += 20)
		look_up(dwarf, address);
	dwarf_set_limit(dwarf, 1);
	for (uint64_t address = 0; address < 0x40; address += 8)
		look_up(dwarf, address);
	look_up(dwarf, UINT64_MAX);
	dwarf_close(dwarf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct elf_builder b;
	struct cursor cursor = cursor_of(data, size);
	int count = 0;

	if (size > MAX_INPUT)
		return 0;
	builder_init(&b, ET_DYN);
	while (cursor_left(&cursor) > 3 && count++ < 12) {
		uint8_t kind = cursor_u8(&cursor);
		size_t n = cursor_u16(&cursor);
		uint16_t at;

		n = n < cursor_left(&cursor) ? n : cursor_left(&cursor);
		at = builder_section(&b, names[(kind & 0x7f) % (sizeof(names) / sizeof(names[0]))],
				     SHT_PROGBITS, cursor_take(&cursor, n), n);
		if (kind & 0x80)
			b.sections[at].sh_flags |= SHF_COMPRESSED;
	}
	builder_finish(&b);
	read_it(&b);
	return 0;
}
