/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_TEXT_WINDOW_H
#define WICK_CFI_TEXT_WINDOW_H

/*
 * text_window: code of an ELF file by address, read in large pieces. Meant for ascending addresses;
 * the total that is read is limited.
 */

#include <stdint.h>

struct elf_file;

struct text_window {
	struct elf_file *elf; /* borrowed */
	uint8_t *bytes;
	uint64_t vaddr;
	uint64_t size;
	uint64_t budget_bytes;
};

/* Returns 0 or -ENOMEM. */
int text_window_init(struct text_window *window, struct elf_file *elf);
void text_window_fini(struct text_window *window);

/*
 * size bytes of code, valid until the next call; NULL unless the file has all of them. A few more
 * bytes after them are readable, with any content.
 */
const uint8_t *text_window_get(struct text_window *window, uint64_t vaddr, uint64_t size);

/* The most that text_window_get() returns. */
#define TEXT_WINDOW_BYTES (1u << 20)
#define TEXT_WINDOW_MARGIN_BYTES 32u

#endif
