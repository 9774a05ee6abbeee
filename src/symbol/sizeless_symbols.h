/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SIZELESS_SYMBOLS_H
#define WICK_SYMBOL_SIZELESS_SYMBOLS_H

/*
 * sizeless_symbols: how far symbols without a size reach in a stripped file, where the
 * next symbol may be hundreds of functions away. Libraries with assembler for x86-64
 * have such: x264, openh264. What lies behind the code of such a symbol has no name.
 */

struct elf_file;
struct symbol_list;

/* Lowers the size of sizeless symbols to that of their code. Returns 0 or -ENOMEM. */
int sizeless_symbols_bound(struct elf_file *elf, struct symbol_list *list);

#endif
