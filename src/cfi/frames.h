/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_FRAMES_H
#define WICK_CFI_FRAMES_H

/*
 * frames: the entries of an .eh_frame or .debug_frame section.
 *
 *	CIE  what many functions share: alignment factors, pointer encoding, first rules
 *	FDE  one function: its CIE, its range of code, its program
 *
 * An FDE may refer only to a CIE that precedes it and starts where an entry starts, as every
 * producer writes it. So each CIE is parsed once, and the time is proportional to the size of the
 * section.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct frame_section {
	const uint8_t *data; /* borrowed */
	size_t size;
	uint64_t vaddr;
	uint64_t text_vaddr; /* for text-relative pointers */
	uint64_t data_vaddr; /* for data-relative pointers: the global offset table */
	bool is_eh;          /* .eh_frame; its pointers and ids differ from those of .debug_frame */
};

struct frame_cie {
	uint64_t offset; /* of the entry, in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint8_t pointer_encoding;
	uint8_t address_bytes;
	bool has_augmentation_data;
	bool is_signal_frame;
	bool is_good; /* false: no FDE can use it */
	struct cursor program;
	uint32_t index; /* in order of appearance */
};

struct frame_fde {
	const struct frame_cie *cie; /* valid until the next frame_reader_next() */
	uint64_t start;              /* ELF vaddr */
	uint64_t size;
	struct cursor program;
	uint64_t program_vaddr; /* of its first byte, for DW_CFA_set_loc */
};

struct frame_reader;

/* Borrows section, which must not change. NULL if out of memory. */
struct frame_reader *frame_reader_new(const struct frame_section *section);
void frame_reader_free(struct frame_reader *reader);

/* 1 and the next function, 0 at the end, -ENOMEM. */
int frame_reader_next(struct frame_reader *reader, struct frame_fde *ret);
/* The number of invalid entries, which were left out. */
uint32_t frame_reader_bad_count(const struct frame_reader *reader);

/*
 * Reads a pointer in a CIE's encoding; vaddr is the address of the cursor. Indirect and omitted
 * pointers fail the cursor.
 */
uint64_t frame_read_pointer(const struct frame_section *section, uint8_t encoding, uint64_t vaddr,
			    struct cursor *cursor);

#endif
