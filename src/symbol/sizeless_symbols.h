/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SIZELESS_SYMBOLS_H
#define WICK_SYMBOL_SIZELESS_SYMBOLS_H

/*
 * sizeless_symbols: where symbols without a size end in a stripped file, whose next symbol may be
 * hundreds of functions away. Libraries with x86-64 assembler code have such symbols: x264,
 * openh264. What follows the code of such a symbol has no name.
 */

struct elf_file;
struct symbol_list;

/* Reduces the size of sizeless symbols to that of their code. Returns 0 or -ENOMEM. */
int sizeless_symbols_bound(struct elf_file *elf, struct symbol_list *list);

#endif
