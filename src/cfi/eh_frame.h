/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_EH_FRAME_H
#define WICK_CFI_EH_FRAME_H

/*
 * eh_frame: finds the .eh_frame of a file: by its section header or, in files without section
 * headers (sstrip, packers), through the search table of PT_GNU_EH_FRAME, as the program itself
 * would.
 */

#include <stdbool.h>

struct elf_file;
struct elf_section;

/* False if there is none. The search table is not trusted, but checked. */
bool cfi_find_eh_frame(struct elf_file *elf, struct elf_section *ret);

#endif
