/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_PLT_SYMBOLS_H
#define WICK_SYMBOL_PLT_SYMBOLS_H

/*
 * plt_symbols: names for the entries of procedure linkage tables, which have no symbols:
 * "malloc@plt". Supports x86-64 and aarch64 on any machine.
 *
 * An entry jumps through a slot of the global offset table, and the relocation of that slot names
 * the function. If it names none, because the program chooses the function itself (an ifunc), the
 * symbol of the resolver names the entry: "memcpy@plt", or "*ABS*+0x1234@plt" without one.
 */

struct elf_file;
struct symbol_list;

/* Adds to a list that has the file's symbols. 0 or -ENOMEM; damaged entries are left out. */
int plt_symbols_add(struct elf_file *elf, struct symbol_list *list);

#endif
