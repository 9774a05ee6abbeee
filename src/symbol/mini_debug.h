/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_MINI_DEBUG_H
#define WICK_SYMBOL_MINI_DEBUG_H

/*
 * mini_debug: the ELF file in .gnu_debugdata, compressed with xz: the symbol table of a stripped
 * program, as Fedora ships it.
 *
 * The section is not trusted: its inflated size and the memory needed for that are limited.
 */

#include <stddef.h>

struct elf_file;

/*
 * Inflates the section; the caller frees *ret_image. -ENOENT without one, -EBADMSG if it is
 * damaged, -EFBIG beyond the limits, -ENOMEM.
 */
int mini_debug_inflate(struct elf_file *elf, void **ret_image, size_t *ret_size);

#endif
