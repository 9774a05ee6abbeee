/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/eh_frame.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "cfi/compile.h"
#include "elf/elf.h"

/*
 * The search table as every linker writes it:
 *
 *	1, 0x1b, 0x03, 0x3b   version; encodings of what follows
 *	int32_t               .eh_frame, from here
 *	uint32_t              number of entries
 *	{ int32_t, int32_t }  start of a function and its FDE, from the table's start
 */
struct header {
	uint8_t form[4];
	int32_t section;
	uint32_t count;
};

struct entry {
	int32_t function;
	int32_t fde;
};

static const uint8_t usual_form[4] = {1, 0x1b, 0x03, 0x3b};

static bool read_vaddr(struct elf_file *elf, uint64_t vaddr, void *place, size_t size)
{
	uint64_t offset;

	return elf_vaddr_to_offset(elf, vaddr, &offset) == 0 &&
	       elf_read_at(elf, offset, place, size) == 0;
}

/* The end of the last FDE; 0 without one. */
static uint64_t find_end(struct elf_file *elf, uint64_t table, uint32_t count)
{
	SCOPED(mem) struct entry *entries = calloc(count, sizeof(*entries));
	uint64_t last = 0;
	uint32_t length;

	if (!entries ||
	    !read_vaddr(elf, table + sizeof(struct header), entries, count * sizeof(*entries)))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t fde = table + (uint64_t)(int64_t)entries[i].fde;

		last = fde > last ? fde : last;
	}
	if (!read_vaddr(elf, last, &length, sizeof(length)) || length >= 0xfffffff0)
		return 0;
	return last + sizeof(length) + length;
}

static bool find_by_table(struct elf_file *elf, struct elf_section *ret)
{
	struct header header;
	uint64_t table, size, start, end, offset, last_offset;

	if (!elf_eh_frame_table(elf, &table, &size) || size < sizeof(header) ||
	    size > CFI_MAX_SECTION_BYTES || !read_vaddr(elf, table, &header, sizeof(header)) ||
	    memcmp(header.form, usual_form, sizeof(usual_form)) != 0 || header.count == 0 ||
	    header.count > (size - sizeof(header)) / sizeof(struct entry))
		return false;
	start = table + offsetof(struct header, section) + (uint64_t)(int64_t)header.section;
	end = find_end(elf, table, header.count);
	if (end <= start || elf_vaddr_to_offset(elf, start, &offset) < 0 ||
	    elf_vaddr_to_offset(elf, end - 1, &last_offset) < 0 ||
	    last_offset - offset != end - 1 - start)
		return false;
	*ret = (struct elf_section){.name = ".eh_frame",
				    .type = SHT_PROGBITS,
				    .addr = start,
				    .offset = offset,
				    .size = end - start};
	return true;
}

bool cfi_find_eh_frame(struct elf_file *elf, struct elf_section *ret)
{
	const struct elf_section *section = elf_section_find(elf, ".eh_frame");

	if (!section)
		return find_by_table(elf, ret);
	*ret = *section;
	return true;
}
