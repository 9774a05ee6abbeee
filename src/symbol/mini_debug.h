/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_MINI_DEBUG_H
#define WICK_SYMBOL_MINI_DEBUG_H

/*
 * mini_debug: the ELF file that .gnu_debugdata holds, compressed with xz: the
 * symbol table of a stripped program, as Fedora ships it.
 *
 * The section is hostile: what it inflates to and the memory that takes are limited.
 */

#include <stddef.h>

struct elf_file;

/*
 * Inflates the section; the caller frees *ret_image. -ENOENT when there is none,
 * -EBADMSG when it is damaged, -EFBIG beyond the limits, -ENOMEM.
 */
int mini_debug_inflate(struct elf_file *elf, void **ret_image, size_t *ret_size);

#endif
