/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/leb.h"
#include "base/vec.h"

/* The low four bits of a pointer encoding are the form, the next three what it is relative to. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORM = 0x0f,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

#define LENGTH_IS_64_BIT UINT32_MAX

struct frame_reader {
	const struct frame_section *section;
	size_t offset;              /* of the next entry */
	VEC(struct frame_cie) cies; /* sorted by offset */
	size_t last_cie;            /* most entries refer to the same one as the previous entry */
	uint32_t bad_count;
};

struct entry {
	uint64_t offset;
	uint64_t id;        /* distinguishes a CIE from an FDE */
	uint64_t id_offset; /* offset of the id; .eh_frame counts back from there */
	bool is_64_bit;
	struct cursor body; /* after the id */
};

struct frame_reader *frame_reader_new(const struct frame_section *section)
{
	struct frame_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->section = section;
	return reader;
}

void frame_reader_free(struct frame_reader *reader)
{
	if (!reader)
		return;
	vec_fini(&reader->cies);
	free(reader);
}

uint32_t frame_reader_bad_count(const struct frame_reader *reader)
{
	return reader->bad_count;
}

static uint64_t read_form(uint8_t form, struct cursor *cursor)
{
	switch (form) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(cursor);
	case PE_UDATA4:
		return cursor_u32(cursor);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(cursor);
	case PE_UDATA2:
		return cursor_u16(cursor);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(cursor);
	case PE_ULEB128:
		return cursor_varint(cursor);
	case PE_SLEB128:
		return (uint64_t)cursor_sleb(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

uint64_t frame_read_pointer(const struct frame_section *section, uint8_t encoding, uint64_t vaddr,
			    struct cursor *cursor)
{
	uint64_t base = 0;

	if (encoding == PE_OMIT || (encoding & PE_INDIRECT)) {
		cursor->failed = true;
		return 0;
	}
	switch (encoding & PE_BASE) {
	case PE_ABSPTR:
		break;
	case PE_PCREL:
		base = vaddr;
		break;
	case PE_TEXTREL:
		base = section->text_vaddr;
		break;
	case PE_DATAREL:
		base = section->data_vaddr;
		break;
	default: /* relative to a function, or aligned: nobody uses those here */
		cursor->failed = true;
		return 0;
	}
	return base + read_form(encoding & PE_FORM, cursor);
}

static uint64_t vaddr_of(const struct frame_section *section, const struct cursor *cursor)
{
	return section->vaddr + (uint64_t)(cursor->at - section->data);
}

/*
 * Reads the header of the entry at reader->offset and skips the entry. 1, or 0 at the end; an entry
 * that extends past the section also ends it, because nothing after it can be found.
 */
static int next_entry(struct frame_reader *reader, struct entry *ret)
{
	const struct frame_section *section = reader->section;
	struct cursor cursor = cursor_of(section->data, section->size);
	uint64_t length = 0;

	/* A length of zero ends a part of the section; linkers may leave some in the middle. */
	while (length == 0) {
		if (section->size - reader->offset < 4)
			return 0;
		cursor.at = section->data + reader->offset;
		ret->offset = reader->offset;
		length = cursor_u32(&cursor);
		reader->offset += 4;
	}
	ret->is_64_bit = length == LENGTH_IS_64_BIT;
	if (ret->is_64_bit)
		length = cursor_u64(&cursor);
	if (cursor.failed || length > cursor_left(&cursor)) {
		reader->bad_count++;
		reader->offset = section->size;
		return 0;
	}
	ret->body = cursor_of(cursor.at, length);
	reader->offset = (size_t)(ret->body.end - section->data);
	ret->id_offset = (uint64_t)(cursor.at - section->data);
	/* In .eh_frame, the id has four bytes regardless of the entry's length. */
	ret->id =
		ret->is_64_bit && !section->is_eh ? cursor_u64(&ret->body) : cursor_u32(&ret->body);
	return 1;
}

static bool is_cie(const struct frame_section *section, const struct entry *entry)
{
	if (section->is_eh)
		return entry->id == 0;
	return entry->id == (entry->is_64_bit ? UINT64_MAX : UINT32_MAX);
}

/* Reads the data announced by "z"; the letters say what it contains, in order. */
static bool read_augmentation(const struct frame_section *section, const char *letters,
			      struct cursor *body, struct frame_cie *cie)
{
	uint64_t size = cursor_varint(body);
	const uint8_t *bytes = cursor_take(body, size);
	struct cursor data = bytes ? cursor_of(bytes, size) : cursor_of("", 0);

	if (!bytes)
		return false;
	cie->has_augmentation_data = true;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			break;
		case 'P': { /* a personality routine, which may be indirect */
			uint8_t encoding = cursor_u8(&data) & (uint8_t)~PE_INDIRECT;

			(void)frame_read_pointer(section, encoding, 0, &data);
			break;
		}
		case 'L':
			(void)cursor_u8(&data);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B': /* return addresses are signed with the other key */
		case 'G': /* memory tagging of the stack */
			break;
		default: /* unknown; with "z" the rest can be skipped */
			return !data.failed;
		}
	}
	return !data.failed;
}

static bool parse_cie(const struct frame_section *section, struct cursor body,
		      struct frame_cie *cie)
{
	uint8_t version = cursor_u8(&body);
	const char *letters = (const char *)body.at;

	if (version != 1 && version != 3 && version != 4)
		return false;
	while (cursor_u8(&body) != 0)
		;
	if (body.failed)
		return false;
	if (letters[0] == 'e' && letters[1] == 'h') { /* a pointer of gcc 2 */
		(void)cursor_u64(&body);
		letters += 2;
	}
	cie->address_bytes = 8;
	if (version == 4) {
		cie->address_bytes = cursor_u8(&body);
		if (cursor_u8(&body) != 0) /* no segment selectors */
			return false;
	}
	cie->code_align = cursor_varint(&body);
	cie->data_align = cursor_sleb(&body);
	cie->ra_register = version == 1 ? cursor_u8(&body) : cursor_varint(&body);
	if (letters[0] == 'z') {
		if (!read_augmentation(section, letters + 1, &body, cie))
			return false;
	} else if (letters[0] != '\0') {
		return false; /* the start of the program is unknown */
	}
	cie->program = body;
	return !body.failed && cie->address_bytes == 8;
}

static int add_cie(struct frame_reader *reader, const struct entry *entry)
{
	struct frame_cie cie = {
		.offset = entry->offset,
		.pointer_encoding = PE_ABSPTR,
		.index = (uint32_t)reader->cies.count,
	};

	cie.is_good = !entry->body.failed && parse_cie(reader->section, entry->body, &cie);
	if (!cie.is_good)
		reader->bad_count++;
	return vec_push(&reader->cies, cie);
}

static const struct frame_cie *find_cie(struct frame_reader *reader, uint64_t offset)
{
	size_t low = 0;
	size_t high = reader->cies.count;

	if (high == 0)
		return NULL;
	if (reader->last_cie < high && reader->cies.items[reader->last_cie].offset == offset)
		return &reader->cies.items[reader->last_cie];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (reader->cies.items[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	if (reader->cies.items[low].offset != offset)
		return NULL;
	reader->last_cie = low;
	return &reader->cies.items[low];
}

static bool parse_fde(struct frame_reader *reader, const struct entry *entry, struct frame_fde *fde)
{
	const struct frame_section *section = reader->section;
	struct cursor body = entry->body;
	uint64_t cie_offset = section->is_eh ? entry->id_offset - entry->id : entry->id;
	const struct frame_cie *cie = body.failed ? NULL : find_cie(reader, cie_offset);

	if (!cie || !cie->is_good)
		return false;
	fde->cie = cie;
	fde->start =
		frame_read_pointer(section, cie->pointer_encoding, vaddr_of(section, &body), &body);
	/* The size has the same form and is relative to nothing. */
	fde->size = frame_read_pointer(section, cie->pointer_encoding & PE_FORM, 0, &body);
	if (cie->has_augmentation_data)
		(void)cursor_take(&body, cursor_varint(&body));
	fde->program = body;
	fde->program_vaddr = vaddr_of(section, &body);
	return !body.failed;
}

int frame_reader_next(struct frame_reader *reader, struct frame_fde *ret)
{
	struct entry entry;

	while (next_entry(reader, &entry)) {
		if (is_cie(reader->section, &entry)) {
			if (add_cie(reader, &entry) < 0)
				return -ENOMEM;
		} else if (parse_fde(reader, &entry, ret)) {
			return 1;
		} else {
			reader->bad_count++;
		}
	}
	return 0;
}
