/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_FRAME_FUNCTIONS_H
#define WICK_SYMBOL_FRAME_FUNCTIONS_H

/*
 * frame_functions: where functions start and end, from .eh_frame, which stripped files keep. It has
 * no names, but the samples of each function add up.
 */

struct elf_file;
struct symbol_list;

/* Adds a nameless symbol for each function. 0 or -ENOMEM; damaged entries are left out. */
int frame_functions_add(struct elf_file *elf, struct symbol_list *list);

#endif
