/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Address arithmetic of elf.h. One file may be mapped like this (64 KiB pages allowed by the
 * linker, 4 KiB used by the kernel):
 *
 *	segment  p_offset  p_vaddr   p_filesz     mapping (bias B)
 *	R        0         0         0x5c8        B+0       offset 0
 *	RX       0x5d0     0x105d0   0x900        B+0x10000 offset 0
 *
 * Both mappings start at file offset 0, so the offset cannot distinguish them: profilers ask about
 * code, so the executable segment wins.
 */

#include <elf.h>
#include <errno.h>

#include "elf/elf.h"

#define MIN_PAGE_BYTES 0x1000u
#define MAX_PAGE_BYTES 0x10000u

static bool holds_offset(const struct elf_segment *segment, uint64_t offset)
{
	return offset >= segment->offset && offset - segment->offset < segment->file_bytes;
}

/*
 * Whether a mapping of the segment in pages of that size covers the offset, including the unused
 * start of its first page and end of its last one.
 */
static bool pages_hold_offset(const struct elf_segment *segment, uint64_t offset,
			      uint64_t page_bytes)
{
	uint64_t mask = ~(page_bytes - 1);

	if (segment->file_bytes == 0)
		return false; /* .bss only: its offset means nothing */
	return (offset & mask) >= (segment->offset & mask) &&
	       (offset & mask) <= ((segment->offset + segment->file_bytes - 1) & mask);
}

static bool is_executable(const struct elf_segment *segment)
{
	return segment->flags & PF_X;
}

static const struct elf_segment *segment_of_offset(const struct elf_file *elf, uint64_t offset,
						   bool executable)
{
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);

		if (is_executable(segment) == executable && holds_offset(segment, offset))
			return segment;
	}
	return NULL;
}

static const struct elf_segment *segment_of_page(const struct elf_file *elf, uint64_t offset,
						 bool executable)
{
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);

		if (is_executable(segment) == executable &&
		    pages_hold_offset(segment, offset, MIN_PAGE_BYTES))
			return segment;
	}
	return NULL;
}

int elf_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *ret_vaddr)
{
	const struct elf_segment *segment = segment_of_offset(elf, offset, true);

	if (!segment)
		segment = segment_of_offset(elf, offset, false);
	if (!segment)
		segment = segment_of_page(elf, offset, true);
	if (!segment)
		segment = segment_of_page(elf, offset, false);
	if (!segment)
		return -ENOENT;
	*ret_vaddr = segment->vaddr + (offset - segment->offset);
	return 0;
}

int elf_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);

		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_bytes)
			continue;
		*ret_offset = segment->offset + (vaddr - segment->vaddr);
		return 0;
	}
	return -ENOENT;
}

/*
 * The segment that is mapped at map_offset. One that begins in the mapping's first page is
 * preferred to one that merely covers it (a mapping that was split by mprotect).
 */
static const struct elf_segment *mapped_segment(const struct elf_segment *segments, size_t count,
						uint64_t map_offset, uint64_t page_bytes,
						bool executable)
{
	const struct elf_segment *covering = NULL;

	for (const struct elf_segment *segment = segments; segment < segments + count; segment++) {
		if (is_executable(segment) != executable ||
		    (page_bytes > MIN_PAGE_BYTES && segment->align < page_bytes) ||
		    !pages_hold_offset(segment, map_offset, page_bytes))
			continue;
		if ((segment->offset & ~(page_bytes - 1)) == map_offset)
			return segment;
		if (!covering)
			covering = segment;
	}
	return covering;
}

/*
 * Whether a segment's own addresses put this part of the file at map_start: true for the first
 * mappings of an ET_EXEC file, which may share pages with neighbouring segments. The program may
 * map parts of it again elsewhere (V8 does).
 */
static bool is_in_place(const struct elf_segment *segments, size_t count, uint64_t map_start,
			uint64_t map_offset)
{
	for (const struct elf_segment *segment = segments; segment < segments + count; segment++)
		if (map_start == segment->vaddr + (map_offset - segment->offset) &&
		    pages_hold_offset(segment, map_offset, MAX_PAGE_BYTES))
			return true;
	return false;
}

int elf_segments_load_bias(const struct elf_segment *segments, size_t count, uint64_t map_start,
			   uint64_t map_offset, bool executable, uint64_t *ret_bias)
{
	if (is_in_place(segments, count, map_start, map_offset)) {
		*ret_bias = 0;
		return 0;
	}
	/*
	 * The page size of the machine that ran the file is unknown: use the smallest that explains
	 * the mapping. 4, 16 and 64 KiB exist.
	 */
	for (int other = 0; other <= 1; other++) {
		for (uint64_t page = MIN_PAGE_BYTES; page <= MAX_PAGE_BYTES; page *= 4) {
			const struct elf_segment *segment = mapped_segment(
				segments, count, map_offset, page, executable != (bool)other);

			if (!segment)
				continue;
			*ret_bias = map_start - (segment->vaddr + (map_offset - segment->offset));
			return 0;
		}
	}
	return -ENOENT;
}

int elf_load_bias(const struct elf_file *elf, uint64_t map_start, uint64_t map_offset,
		  uint64_t *ret_bias)
{
	/* The segments of a file are one array. */
	return elf_segments_load_bias(elf_segment_at(elf, 0), elf_segment_count(elf), map_start,
				      map_offset, true, ret_bias);
}
