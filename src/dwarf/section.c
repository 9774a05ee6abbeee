/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/section.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <zlib.h>
#include <zstd.h>

#include "base/scope.h"
#include "elf/elf.h"

#define BLOCK_SHIFT 12
#define TEXT_BYTES (4ull << 10) /* texts that are needed are close together */
#define POPULATE_BYTES (64u << 10)
/*
 * From this size on, 2 MB pages are worthwhile for a run of blocks: they halve the cost of
 * populating it.
 */
#define HUGE_RUN_BYTES (512u << 10)
#define HUGE_PAGE_BYTES (2ull << 20)
#define MAX_SECTION_BYTES (8ull << 30)
#define MAX_JOINED_BYTES (1ull << 30)
#define MAX_INFLATED_BYTES (4ull << 30)
/* Debug information compresses to a third or a tenth; far more is an attack on memory. */
#define MAX_INFLATION 64
#define INFLATION_SLACK (64u << 10)
#define MAX_TEXT_BYTES (1u << 20)

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum packing { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD };

void section_init(struct section *section, struct elf_file *elf, const char *name)
{
	char text[64];

	*section = (struct section){0};
	for (size_t i = 0; i < 2 && !section->header; i++) {
		(void)snprintf(text, sizeof(text), ".%s%s", i ? "z" : "",
			       name); /* we choose the names */
		section->header = elf_section_find(elf, text);
	}
	if (section->header)
		section->elf = elf;
}

void section_fini(struct section *section)
{
	if (section->data)
		(void)munmap(section->data, section->size); /* ours, and whole */
	free(section->present);
	*section = (struct section){0};
}

static uint8_t *reserve(uint64_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

/* How the section is compressed, its uncompressed size, and where the compressed bytes begin. */
static int read_packing(const struct section *section, enum packing *ret, uint64_t *ret_size,
			uint64_t *ret_skip)
{
	const struct elf_section *header = section->header;
	uint8_t start[12];
	Elf64_Chdr chdr;

	*ret = PACKING_NONE;
	*ret_size = header->size;
	*ret_skip = 0;
	if (header->flags & SHF_COMPRESSED) {
		if (header->size < sizeof(chdr) ||
		    elf_read_at(section->elf, header->offset, &chdr, sizeof(chdr)) < 0)
			return -EBADMSG;
		if (chdr.ch_type != ELFCOMPRESS_ZLIB && chdr.ch_type != ELFCOMPRESS_ZSTD)
			return -ENOTSUP;
		*ret = chdr.ch_type == ELFCOMPRESS_ZLIB ? PACKING_ZLIB : PACKING_ZSTD;
		*ret_size = chdr.ch_size;
		*ret_skip = sizeof(chdr);
	} else if (header->name[1] == 'z') { /* "ZLIB", big-endian size */
		if (header->size < sizeof(start) ||
		    elf_read_at(section->elf, header->offset, start, sizeof(start)) < 0 ||
		    memcmp(start, "ZLIB", 4) != 0)
			return -EBADMSG;
		*ret = PACKING_ZLIB;
		*ret_size = 0;
		for (size_t i = 4; i < sizeof(start); i++)
			*ret_size = *ret_size << 8 | start[i];
		*ret_skip = sizeof(start);
	}
	return 0;
}

static bool inflate_zlib(const uint8_t *packed, uint64_t packed_size, uint8_t *data, uint64_t size)
{
	z_stream stream = {0};
	uint64_t in = 0, out = 0;
	int r;

	if (inflateInit(&stream) != Z_OK)
		return false;
	do { /* zlib counts in 32 bits */
		uint64_t in_left = packed_size - in, out_left = size - out;

		stream.next_in = (Bytef *)(uintptr_t)(packed + in);
		stream.avail_in = (uInt)(in_left < (1u << 30) ? in_left : 1u << 30);
		stream.next_out = data + out;
		stream.avail_out = (uInt)(out_left < (1u << 30) ? out_left : 1u << 30);
		r = inflate(&stream, Z_NO_FLUSH);
		in = (uint64_t)(stream.next_in - packed);
		out = (uint64_t)(stream.next_out - data);
	} while (r == Z_OK && out < size && in < packed_size);
	(void)inflateEnd(&stream);
	return (r == Z_STREAM_END || r == Z_OK) && out == size;
}

static int unpack(struct section *section, enum packing packing, uint64_t skip)
{
	uint64_t packed_size = section->header->size - skip;
	SCOPED(mem) uint8_t *packed = NULL;
	bool done;

	if (section->size > MAX_INFLATED_BYTES ||
	    section->size / MAX_INFLATION > packed_size + INFLATION_SLACK)
		return -EFBIG;
	packed = malloc(packed_size ? packed_size : 1);
	section->data = reserve(section->size);
	if (!packed || !section->data)
		return -ENOMEM;
	if (elf_read_at(section->elf, section->header->offset + skip, packed, packed_size) < 0)
		return -ERANGE;
	if (packing == PACKING_ZLIB)
		done = inflate_zlib(packed, packed_size, section->data, section->size);
	else
		done = ZSTD_decompress(section->data, section->size, packed, packed_size) ==
		       section->size;
	if (!done)
		return -EBADMSG;
	section->resident = section->size;
	section->inflated = true;
	return 0;
}

/* The next section of the same name, or NULL. */
static const struct elf_section *next_alike(const struct section *section,
					    const struct elf_section *from)
{
	const struct elf_section *last =
		elf_section_at(section->elf, elf_section_count(section->elf) - 1);

	while (++from <= last)
		if (strcmp(from->name, section->header->name) == 0)
			return from;
	return NULL;
}

/* .dwo files put each type into a section of its own: all sections of a name are joined. */
static int join(struct section *section)
{
	const struct elf_section *part = section->header;
	uint64_t at = 0;

	section->size = 0;
	for (; part; part = next_alike(section, part)) {
		if ((part->flags & SHF_COMPRESSED) ||
		    !elf_section_is_readable(section->elf, part) ||
		    section->size + part->size > MAX_JOINED_BYTES)
			return -ENOTSUP;
		section->size += part->size;
	}
	section->data = reserve(section->size ? section->size : 1);
	if (!section->data)
		return -ENOMEM;
	for (part = section->header; part; part = next_alike(section, part)) {
		if (elf_read_at(section->elf, part->offset, section->data + at, part->size) < 0)
			return -ERANGE;
		at += part->size;
	}
	section->resident = section->size;
	section->inflated = true;
	return 0;
}

static int open_section(struct section *section)
{
	const struct elf_section *header = section->header;
	enum packing packing;
	uint64_t skip;
	uint8_t last;
	int r;

	if (header->type == SHT_NOBITS || header->size == 0 || header->size > MAX_SECTION_BYTES)
		return -ENODATA;
	/* Nothing is reserved for a section that ends past the end of the file. */
	if (header->offset > UINT64_MAX - header->size ||
	    elf_read_at(section->elf, header->offset + header->size - 1, &last, 1) < 0)
		return -ERANGE;
	if (next_alike(section, header))
		return join(section);
	r = read_packing(section, &packing, &section->size, &skip);
	if (r < 0)
		return r;
	if (section->size == 0)
		return -ENODATA;
	if (packing != PACKING_NONE)
		return unpack(section, packing, skip);
	section->data = reserve(section->size);
	section->present =
		calloc(((section->size - 1) >> (BLOCK_SHIFT + 6)) + 1, sizeof(*section->present));
	return section->data && section->present ? 0 : -ENOMEM;
}

bool section_exists(struct section *section)
{
	if (!section->elf || section->failed)
		return false;
	if (!section->data || (!section->present && !section->inflated)) {
		section->failed = open_section(section) < 0;
		if (section->failed && section->data) {
			(void)munmap(section->data, section->size); /* ours, and whole */
			section->data = NULL;
		}
	}
	return !section->failed;
}

uint64_t section_size(struct section *section)
{
	return section_exists(section) ? section->size : 0;
}

static bool is_present(const struct section *section, uint64_t block)
{
	return section->present[block >> 6] >> (block & 63) & 1;
}

/* Requests huge pages around a run, within the section. */
static void ask_for_huge_pages(const struct section *section, uint64_t start, uint64_t size)
{
	uintptr_t low = ((uintptr_t)section->data + start) & ~(HUGE_PAGE_BYTES - 1);
	uintptr_t high = ((uintptr_t)section->data + start + size + HUGE_PAGE_BYTES - 1) &
			 ~(HUGE_PAGE_BYTES - 1);
	uintptr_t end = (uintptr_t)section->data + section->size;

	low = low < (uintptr_t)section->data ? (uintptr_t)section->data : low;
	high = high < end ? high : end;
	(void)madvise((void *)low, high - low, MADV_HUGEPAGE); /* only a hint */
}

/* Populates pages at once, which is cheaper than a fault for each; start is on a block boundary. */
static void populate(const struct section *section, uint64_t start, uint64_t size)
{
	if (size >= HUGE_RUN_BYTES)
		ask_for_huge_pages(section, start, size);
	if (size >= POPULATE_BYTES) /* before Linux 5.14: faults */
		(void)madvise(section->data + start, size, MADV_POPULATE_WRITE);
}

/* Reads the missing blocks from first to last, in runs. */
static bool fill(struct section *section, uint64_t first, uint64_t last)
{
	while (first <= last) {
		uint64_t start, size, end = first;

		if (is_present(section, first)) {
			first++;
			continue;
		}
		while (end <= last && !is_present(section, end))
			end++;
		start = first << BLOCK_SHIFT;
		size = (end << BLOCK_SHIFT) - start;
		if (size > section->size - start)
			size = section->size - start;
		populate(section, start, size);
		if (elf_read_at(section->elf, section->header->offset + start,
				section->data + start, size) < 0)
			return false;
		section->resident += size;
		for (; first < end; first++)
			section->present[first >> 6] |= 1ull << (first & 63);
	}
	return true;
}

const uint8_t *section_at(struct section *section, uint64_t offset, uint64_t n)
{
	if (!section_exists(section) || offset > section->size || n > section->size - offset)
		return NULL;
	if (n > 0 && section->present &&
	    !fill(section, offset >> BLOCK_SHIFT, (offset + n - 1) >> BLOCK_SHIFT))
		return NULL;
	return section->data + offset;
}

const char *section_text(struct section *section, uint64_t offset)
{
	uint64_t at = offset;

	if (offset >= section_size(section))
		return NULL;
	for (;;) {
		uint64_t left = section->size - at;
		uint64_t n = TEXT_BYTES - (at & (TEXT_BYTES - 1));
		const uint8_t *part;

		if (left == 0 || at - offset > MAX_TEXT_BYTES)
			return NULL;
		n = n < left ? n : left;
		part = section_at(section, at, n);
		if (!part)
			return NULL;
		if (memchr(part, 0, n))
			return (const char *)section->data + offset;
		at += n;
	}
}

static void forget_blocks(struct section *section)
{
	memset(section->present, 0,
	       (((section->size - 1) >> (BLOCK_SHIFT + 6)) + 1) * sizeof(*section->present));
	section->resident = 0;
}

void section_renew(struct section *section)
{
	if (!section->data || !section->present)
		return;
	if (mmap(section->data, section->size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return; /* left as it was */
	forget_blocks(section);
}

void section_drop(struct section *section)
{
	if (!section->data || !section->present)
		return;
	(void)madvise(section->data, section->size, MADV_DONTNEED); /* may or may not save memory */
	forget_blocks(section);
}
