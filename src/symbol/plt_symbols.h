/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_PLT_SYMBOLS_H
#define WICK_SYMBOL_PLT_SYMBOLS_H

/*
 * plt_symbols: names for the entries of procedure linkage tables, which have no
 * symbols: "malloc@plt". Knows those of x86-64 and aarch64 whatever this machine is.
 *
 * An entry jumps through a slot of the global offset table, and the relocation of
 * that slot names the function. Where it names none, because the program chooses
 * the function itself (an ifunc), the symbol of the choice does: "memcpy@plt", or
 * "*ABS*+0x1234@plt" when there is none.
 */

struct elf_file;
struct symbol_list;

/* Adds to a list that has the file's symbols. 0 or -ENOMEM; what is damaged is left out. */
int plt_symbols_add(struct elf_file *elf, struct symbol_list *list);

#endif
