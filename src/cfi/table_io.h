/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_TABLE_IO_H
#define WICK_CFI_TABLE_IO_H

/*
 * table_io: writes unwind tables to the bytes of a file and reads them (unwind/table_file.h has the
 * layout).
 */

#include <stdint.h>

#include "elf/elf.h"

struct bytes;
struct cfi_table;

/* What a file must contain to be the table of this module. */
struct table_identity {
	uint16_t machine;
	uint8_t build_id_size;
	uint8_t build_id[32];
	struct file_identity file;
	uint64_t layout;
};

struct table_identity table_identity_of(struct elf_file *elf);
/* Distinguishes modules with the same build id. */
uint64_t table_identity_hash(const struct table_identity *identity);

/* Appends the file; if out of memory, out->failed is set. */
void table_write(const struct cfi_table *table, const struct table_identity *identity,
		 struct bytes *out);

/*
 * Maps a file. -EBADMSG if it is damaged, of another version or of another module. The caller
 * releases *ret with cfi_table_fini().
 */
int table_read(int fd, uint64_t size, const struct table_identity *identity, struct cfi_table *ret);

#endif
