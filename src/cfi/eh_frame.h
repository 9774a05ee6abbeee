/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_EH_FRAME_H
#define WICK_CFI_EH_FRAME_H

/*
 * eh_frame: where the .eh_frame of a file is. By its section header or, in files that
 * have lost those (sstrip, packers), by what the program itself would use: the
 * search table of PT_GNU_EH_FRAME.
 */

#include <stdbool.h>

struct elf_file;
struct elf_section;

/* False when there is none. What the search table says is hostile, and checked. */
bool cfi_find_eh_frame(struct elf_file *elf, struct elf_section *ret);

#endif
